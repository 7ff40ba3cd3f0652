# SPDX-License-Identifier: Apache-2.0
"""A machine with systemd and snapd, in namespaces of this one. Needs root, cgroup2, overlayfs and /dev/fuse."""

import contextlib
import ctypes
import hashlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

from support import BUILD
from support.process import Process

HERE = pathlib.Path(__file__).resolve().parent
SUITE = "trixie"
FOLDER = BUILD / "e2e"
PROGRAMS = {"mmdebstrap": "mmdebstrap", "mksquashfs": "squashfs-tools", "unshare": "util-linux", "taskset": "util-linux",
            "mount": "mount",
            "nsenter": "util-linux"}
BOOT_SECONDS = 60


def _cgroup2():
    """The folder of the cgroup2 hierarchy, or None."""
    for folder in ("/sys/fs/cgroup/unified", "/sys/fs/cgroup"):
        kind = subprocess.run(["stat", "-fc", "%T", folder], capture_output=True, text=True, check=False).stdout.strip()
        if kind == "cgroup2fs" and os.access(folder, os.W_OK):
            return pathlib.Path(folder)
    return None


def why_not():
    """Why a machine cannot be started here, in a few words, or None."""
    if os.geteuid() != 0:
        return "not root"
    if not re.search(r"(?m)^ID=\"?debian\"?$", pathlib.Path("/etc/os-release").read_text(encoding="utf-8")):
        return "not Debian, from whose archive the machine is built"
    if not os.path.exists("/dev/fuse"):
        return "no /dev/fuse"
    if _cgroup2() is None:
        return "no cgroup2 hierarchy that can be written"
    missing = sorted({package for program, package in PROGRAMS.items() if not shutil.which(program)})
    if missing:
        return f"not installed: {' '.join(missing)}"
    if subprocess.run(["unshare", "--mount", "--pid", "--net", "--fork", "true"], capture_output=True,
                      check=False).returncode != 0:
        return "no new namespaces allowed"
    # Who enters the machine comes out at the root of its mount namespace, which it has from ours.
    root = subprocess.run(["nsenter", f"--mount=/proc/{os.getpid()}/ns/mnt", "stat", "-c", "%d %i", "/"], capture_output=True, text=True,
                          check=False).stdout.split()
    if root != [str(os.stat("/").st_dev), str(os.stat("/").st_ino)]:
        return "in a chroot"
    return None


def rootfs():
    """The machine's root, built at the first use and whenever its recipe changes."""
    key = hashlib.sha256(SUITE.encode() + (HERE / "rootfs.sh").read_bytes()).hexdigest()[:16]
    folder = FOLDER / f"rootfs-{key}"
    if not folder.exists():
        for old in FOLDER.glob("rootfs-*"):
            shutil.rmtree(old)
        part = FOLDER / "rootfs-part"
        FOLDER.mkdir(parents=True, exist_ok=True)
        subprocess.run([HERE / "rootfs.sh", SUITE, part], check=True)
        part.rename(folder)
    return folder


def _remove_cgroup(folder):
    """Removes a cgroup and those below it, once no process is left in them. Whether it is gone."""
    for path in [*sorted(folder.rglob("*/"), reverse=True), folder]:
        with contextlib.suppress(OSError):
            path.rmdir()
    return not folder.exists()


class Machine:
    """Boots, and ends with its context manager or with the thread that started it."""

    def __init__(self, snaps):
        self._cpu = str(min(os.sched_getaffinity(0)))
        self._cgroup = _cgroup2() / f"imgcheck-e2e-{os.getpid()}"
        for left in self._cgroup.parent.glob("imgcheck-e2e-*"):  # of runs that were killed
            if not pathlib.Path("/proc", left.name.rpartition("-")[2]).exists():
                _remove_cgroup(left)
        self._cgroup.mkdir()
        state = FOLDER / "state"
        state.mkdir(exist_ok=True)
        # All on one CPU: Linux 6.18 orders the ids of mount namespaces by CPU, and snap-confine's bind mount
        # of a namespace file then fails now and then ("cannot preserve mount namespace", LP #2161539).
        self._outer = Process(
            ["sh", "-c", 'echo $$ > "$0/cgroup.procs" && exec "$@"', self._cgroup,
             "taskset", "-c", self._cpu, "unshare", "--mount", "--uts", "--ipc", "--net", "--pid", "--cgroup",
             "--fork", "--kill-child", HERE / "init.sh", rootfs(), snaps, state],
            FOLDER / "console.log", end_by=signal.SIGKILL, start_new_session=True)
        try:
            self.pid = self._wait_for_systemd()
        except BaseException:
            self.stop()
            raise

    def _wait_for_systemd(self):
        limit = time.monotonic() + BOOT_SECONDS
        children = pathlib.Path(f"/proc/{self._outer.pid}/task/{self._outer.pid}/children")
        state = ""
        while time.monotonic() < limit and self._outer.is_running():
            with contextlib.suppress(OSError, ValueError):
                self.pid = int(children.read_text(encoding="ascii"))
                if pathlib.Path(f"/proc/{self.pid}/comm").read_text(encoding="ascii").strip() == "systemd":
                    state = self.run("systemctl", "is-system-running", "--wait").stdout.strip()
                    if state in ("running", "degraded"):
                        return self.pid
            time.sleep(0.05)
        raise RuntimeError(f"the machine did not boot: {state or 'no systemd'}: {self._outer.lines[-5:]}")

    def command(self, *command):
        """The command line that runs a command inside, as root at a shell would."""
        return ["taskset", "-c", self._cpu, "nsenter", "-t", str(self.pid), "-m", "-u", "-i", "-n", "-p", "-C", "--",
                "env", "-i", "PATH=/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin:/snap/bin", "HOME=/root", "LANG=C.UTF-8",
                "TERM=dumb", "SNAP_REEXEC=0", *map(str, command)]

    def run(self, *command, timeout=120):
        """Runs a command inside; stdout and stderr apart."""
        return subprocess.run(
            self.command(*command), stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=timeout, check=False)

    def enter_network(self):
        """From now on this process, and what it starts, is on the machine's loopback network."""
        with open(f"/proc/{self.pid}/ns/net", "rb") as network:
            if ctypes.CDLL(None, use_errno=True).setns(network.fileno(), 0) != 0:
                raise OSError(ctypes.get_errno(), "cannot enter the machine's network")

    def stop(self):
        self._outer.stop()
        limit = time.monotonic() + 5
        while not _remove_cgroup(self._cgroup) and time.monotonic() < limit:
            time.sleep(0.05)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
