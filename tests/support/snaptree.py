# SPDX-License-Identifier: Apache-2.0
"""The example addon snap: its revisions assembled from snap/local/example, and a machine that has them mounted.

A SnapTree looks to a hook as snapd leaves it: revisions side by side, `current`, the data folders, snapctl on
PATH, and the environment of a hook.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess

from . import ROOT

EXAMPLE = ROOT / "snap" / "local" / "example"
NAME = "example-addons"
OLD, NEW = "1.28.2", "1.28.3"
HOOKS = ("install", "configure", "pre-refresh", "post-refresh")


def architecture():
    """This machine's, as Debian and container images name it."""
    return {"x86_64": "amd64", "aarch64": "arm64"}.get(os.uname().machine, os.uname().machine)


def assemble(folder, version, imgcheck):
    """Lays out one revision in folder; imgcheck is the built program, with its library beside it."""
    folder, imgcheck = pathlib.Path(folder), pathlib.Path(imgcheck)
    shutil.copytree(EXAMPLE / "common", folder)
    shutil.copytree(EXAMPLE / version, folder, dirs_exist_ok=True)
    description = (EXAMPLE / "snap.yaml.in").read_text(encoding="utf-8")
    (folder / "meta" / "snap.yaml").write_text(description.replace("@VERSION@", version), encoding="utf-8")
    for path in ("bin", "usr/lib", "meta/hooks"):
        (folder / path).mkdir(parents=True, exist_ok=True)
    for place in ("bin/imgcheck", *(f"meta/hooks/{hook}" for hook in HOOKS)):
        shutil.copy(imgcheck, folder / place)
    library = imgcheck.parent / "libimgcheck.so.0"
    shutil.copy(library, folder / "usr" / "lib" / library.name)


def libraries(program):
    """(what glibc brings, the rest): paths of the shared libraries of a program, its loader among the first."""
    output = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    paths = [pathlib.Path(path) for path in re.findall(r"(/\S+) \(0x", output)]
    listed = subprocess.run(["dpkg", "-L", "libc6"], capture_output=True, text=True, check=True).stdout
    glibc = {pathlib.Path(line).name for line in listed.splitlines()}
    return [path for path in paths if path.name in glibc], [path for path in paths if path.name not in glibc]


class SnapTree:
    """A machine's snaps below root: snap/NAME/REVISION, var/snap/NAME."""

    def __init__(self, root, name=NAME):
        self.root = pathlib.Path(root)
        self.name = name
        self.snap = self.root / "snap" / name
        self.data = self.root / "var" / "snap" / name
        self.common = self.data / "common"
        self.config_file = self.root / "config.json"
        self.current = None
        self._versions = {}
        self.common.mkdir(parents=True)
        self.snap.mkdir(parents=True)
        self._install_snapctl()
        self.configure({})

    def _install_snapctl(self):
        path = self.root / "bin" / "snapctl"
        path.parent.mkdir()
        path.write_text(f"#!/bin/sh\nexec '{ROOT}/tests/support/snapctl' '{self.config_file}' \"$@\"\n", encoding="utf-8")
        path.chmod(0o755)

    def configure(self, config):
        """What `snap set` has made so far: a dict, nested for dotted keys."""
        self.config_file.write_text(json.dumps(config), encoding="utf-8")

    def mount(self, revision, version, imgcheck):
        """A revision as it comes in: mounted, not yet current."""
        assemble(self.snap / revision, version, imgcheck)
        self._versions[revision] = version
        return self.snap / revision

    def set_current(self, revision):
        self.current = revision
        (self.data / revision).mkdir(exist_ok=True)
        for link in (self.snap / "current", self.data / "current"):
            link.unlink(missing_ok=True)
            link.symlink_to(revision)

    def environment(self):
        """The environment of a hook of the current revision. Nothing in it names the new one."""
        here, home = self.snap / self.current, self.root / "root" / "snap" / self.name / self.current
        home.mkdir(parents=True, exist_ok=True)
        sanitizers = {key: os.environ[key] for key in ("ASAN_OPTIONS", "UBSAN_OPTIONS") if key in os.environ}
        return sanitizers | {
            "SNAP": str(here), "SNAP_NAME": self.name, "SNAP_INSTANCE_NAME": self.name, "SNAP_INSTANCE_KEY": "",
            "SNAP_VERSION": self._versions[self.current], "SNAP_REVISION": self.current, "SNAP_ARCH": architecture(),
            "SNAP_DATA": str(self.data / self.current), "SNAP_COMMON": str(self.common),
            "SNAP_LIBRARY_PATH": "/var/lib/snapd/lib/gl", "SNAP_REEXEC": "", "SNAP_UID": "0", "SNAP_EUID": "0",
            "SNAP_COOKIE": "cookie", "SNAP_CONTEXT": "cookie", "SNAP_USER_DATA": str(home), "HOME": str(home),
            "SNAP_USER_COMMON": str(home.parent / "common"), "SNAP_REAL_HOME": str(self.root / "root"),
            "XDG_RUNTIME_DIR": f"/run/user/0/snap.{self.name}", "TMPDIR": "/tmp", "LANG": "C.UTF-8",
            "PATH": f"{self.root}/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "LD_LIBRARY_PATH": str(here / "usr" / "lib"),
        }

    def run_hook(self, hook, timeout=120):
        """Runs the current revision's hook as snapd does: (status, what it printed on both channels)."""
        done = subprocess.run([self.snap / self.current / "meta" / "hooks" / hook], cwd="/", env=self.environment(),
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=timeout, check=False, text=True, errors="replace")
        return done.returncode, done.stdout
