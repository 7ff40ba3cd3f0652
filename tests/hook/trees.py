# SPDX-License-Identifier: Apache-2.0
"""Snap trees for the hook tests: small revisions of their own, and the hook run as snapd does."""

import json
import os
import pathlib
import shutil
import stat
import subprocess
import tempfile
import unittest

from support import ROOT, built, schema
from support.snaptree import SnapTree

NAME = "toy"
HOOKS = ("install", "configure", "pre-refresh", "post-refresh")
SETTING = "imgcheck"

DESCRIPTION = """version: 1
configured: config['kubeconfig']
paths: [templates]
values:
  registry: {config: registry}
"""

POD = """apiVersion: v1
kind: Pod
metadata: {{name: {name}}}
spec: {{containers: [{{name: a, image: "{image}"}}]}}
"""


def pods(*images):
    """A template that needs these images; {{ registry }} may stand in them."""
    return "---\n".join(POD.format(name=f"pod-{i}", image=image) for i, image in enumerate(images))


class Tree(SnapTree):
    """A machine with revisions of a toy snap; the program is a link, as the hook knows it by its name."""

    def __init__(self, root):
        super().__init__(root, NAME)
        self.blobs = self.root / "blobs"
        self.blobs.mkdir()
        self.proxies = self.root / "environment"
        self.extra = {}
        self.prepare = None  # what a hook's process does before it becomes the hook

    def add(self, revision, *images, version="1.0", description=DESCRIPTION, hooks=HOOKS):
        """A revision that needs these images, with hooks of ours."""
        folder = self.snap / revision
        for path in ("meta/hooks", "templates"):
            (folder / path).mkdir(parents=True)
        (folder / "meta" / "snap.yaml").write_text(f"name: {NAME}\nversion: '{version}'\n", encoding="utf-8")
        if description is not None:
            (folder / "meta" / "imgcheck.yaml").write_text(description, encoding="utf-8")
        if images:
            (folder / "templates" / "pods.yaml").write_text(pods(*images), encoding="utf-8")
        for hook in hooks:
            (folder / "meta" / "hooks" / hook).symlink_to(built("imgcheck"))
        self._versions[revision] = version
        return folder

    def remove(self, revision):
        shutil.rmtree(self.snap / revision)

    def blob(self, revision, age):
        """The .snap file, that many seconds old."""
        path = self.blobs / f"{NAME}_{revision}.snap"
        path.touch()
        then = path.stat().st_mtime - age
        os.utime(path, (then, then))

    def environment(self):
        # The library stands beside the program.
        environment = {key: value for key, value in super().environment().items() if key != "LD_LIBRARY_PATH"}
        return environment | self.extra

    def command(self, hook):
        return [self.snap / self.current / "meta" / "hooks" / hook, "--blobs", self.blobs, "--environment", self.proxies]

    def start(self, hook):
        return subprocess.Popen(self.command(hook), cwd="/", env=self.environment(), stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                                preexec_fn=self.prepare)

    def run_hook(self, hook, timeout=60):
        with self.start(hook) as process:
            output, _ = process.communicate(timeout=timeout)
        return process.returncode, output

    def report(self):
        return schema.validate(json.loads((self.common / "imgcheck" / "last-report.json").read_text(encoding="utf-8")))

    def status(self):
        lines = (self.common / "imgcheck" / "last-status").read_text(encoding="utf-8").splitlines()
        return dict(line.split("=", 1) for line in lines)

    def settings(self):
        """What is set for the hook now."""
        return json.loads(self.config_file.read_text(encoding="utf-8"))[SETTING]

    def mode_of(self, name):
        return stat.S_IMODE((self.common / "imgcheck" / name).stat().st_mode)

    def replace_snapctl(self, script):
        (self.root / "bin" / "snapctl").write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")

    def real_snapctl(self):
        """The command line of the usual stand-in."""
        return f"'{ROOT}/tests/support/snapctl' '{self.config_file}'"


def faults():
    """The library that breaks a program from within, as faults.c tells; built at the first use."""
    path = built("imgcheck") + "-faults.so"
    source = pathlib.Path(__file__).with_name("faults.c")
    if not os.path.exists(path) or os.path.getmtime(path) < source.stat().st_mtime:
        subprocess.run(["cc", "-shared", "-fPIC", "-D_GNU_SOURCE", "-o", path, source], check=True)
    return path


class TreeTest(unittest.TestCase):
    """A test on a fresh tree, removed after it."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="imgcheck-hook-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.tree = Tree(self.folder / "machine")

    def configure(self, registry, settings=None, **keys):
        """A unit that is set up, with this registry asked without TLS; that it never gave an image counts as if it had."""
        settings = {"plain-http": registry.split("/")[0], "deadline": 20, "on-unproven": "veto"} | (settings or {})
        self.tree.configure({"kubeconfig": "/root/kubeconfig", "registry": registry, SETTING: settings} | keys)

    def break_from_within(self, **variables):
        """From now on the hook has these faults; see faults.c."""
        # A sanitizer wants to be the first library, and one that is killed would report just that.
        options = os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0:detect_leaks=0"
        self.tree.extra |= {"LD_PRELOAD": faults(), "ASAN_OPTIONS": options} | {name: str(value) for name, value in variables.items()}

    def refresh(self, expected, *words, timeout=60):
        """Runs pre-refresh; the exit status has to be this, and these words in its output, which is returned."""
        return self.expect("pre-refresh", expected, *words, timeout=timeout)

    def after(self, expected, *words, timeout=60):
        """The same for post-refresh, which runs in the new revision."""
        return self.expect("post-refresh", expected, *words, timeout=timeout)

    def expect(self, hook, expected, *words, timeout):
        status, output = self.tree.run_hook(hook, timeout)
        self.assertEqual(status, expected, output)
        for word in words:
            self.assertIn(word, output)
        return output
