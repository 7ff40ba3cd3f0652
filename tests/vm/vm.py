# SPDX-License-Identifier: Apache-2.0
"""A virtual machine with snapd and an enforcing AppArmor, in qemu. Needs root to build its disk."""

import base64
import hashlib
import os
import pathlib
import shlex
import shutil
import signal
import socket
import subprocess
import time

from support import BUILD
from support.process import Process

HERE = pathlib.Path(__file__).resolve().parent
SUITE = "trixie"
FOLDER = BUILD / "vm"
PACKAGES = {"mmdebstrap": "mmdebstrap", "mksquashfs": "squashfs-tools", "mke2fs": "e2fsprogs",
            "qemu-system-x86_64": "qemu-system-x86"}
# Emulation is slow, and slower still beside other work.
BOOT_SECONDS, COMMAND_SECONDS = 900, 900
# Not every host's KVM boots this kernel, so it is not tried unless asked for.
ACCELERATION = os.environ.get("VM_ACCEL", "tcg,thread=multi")


def prepare():
    """Installs what is missing; the reason why that, or the machine, cannot be, in a few words, or None."""
    if os.geteuid() != 0:
        return "not root"
    if os.uname().machine != "x86_64":
        return "not an x86-64 machine, whose kernel is booted"
    missing = sorted({package for program, package in PACKAGES.items() if not shutil.which(program)})
    if missing and subprocess.run(["apt-get", "-qq", "install", "-y", "--no-install-recommends", *missing], check=False,
                                  env=os.environ | {"DEBIAN_FRONTEND": "noninteractive"}, capture_output=True).returncode:
        return f"cannot install {' '.join(missing)}"
    return None


def disk():
    """The folder with kernel, initrd and disk, built at the first use and whenever its recipe changes."""
    recipe = SUITE.encode() + (HERE / "disk.sh").read_bytes() + (HERE / "agent.sh").read_bytes()
    folder = FOLDER / f"disk-{hashlib.sha256(recipe).hexdigest()[:16]}"
    if not folder.exists():
        for old in FOLDER.glob("disk-*"):
            shutil.rmtree(old)
        part = FOLDER / "disk-part"
        FOLDER.mkdir(parents=True, exist_ok=True)
        subprocess.run([HERE / "disk.sh", SUITE, part], check=True)
        part.rename(folder)
    return folder


class Machine:
    """Boots the disk, which stays as it is, with the folder `files` at /snaps. Ends with its context manager."""

    def __init__(self, folder, files):
        image, port = FOLDER / "files.img", FOLDER / "port"
        subprocess.run(["mksquashfs", files, image, "-noappend", "-noI", "-noD", "-noF", "-quiet", "-no-progress"], check=True,
                       capture_output=True)
        port.unlink(missing_ok=True)
        self._qemu = Process(
            ["qemu-system-x86_64", "-machine", "q35", "-accel", ACCELERATION, "-cpu", "max", "-m", "1536", "-smp", "2",
             "-nodefaults", "-no-user-config", "-no-reboot", "-display", "none", "-serial", "stdio", "-nic", "none",
             "-kernel", folder / "vmlinuz", "-initrd", folder / "initrd",
             "-append", "root=/dev/vda rw console=ttyS0 quiet loglevel=4 apparmor=1 security=apparmor mitigations=off",
             "-drive", f"file={folder}/root.img,format=raw,if=virtio,snapshot=on",
             "-drive", f"file={image},format=raw,if=virtio,readonly=on",
             "-device", "virtio-serial", "-device", "virtserialport,chardev=agent,name=agent",
             "-chardev", f"socket,id=agent,path={port},server=on,wait=off"],
            FOLDER / "console.log", end_by=signal.SIGKILL)
        try:
            self._socket = self._connect(port)
            self.run("true", timeout=BOOT_SECONDS)
        except BaseException:
            self.stop()
            raise

    def _connect(self, port):
        limit = time.monotonic() + 60
        while True:
            connection = socket.socket(socket.AF_UNIX)
            try:
                connection.connect(str(port))
                return connection
            except OSError:
                connection.close()
                if time.monotonic() > limit or not self._qemu.is_running():
                    raise
                time.sleep(0.05)

    def run(self, *command, timeout=COMMAND_SECONDS):
        """Runs a command inside as root; stdout and stderr apart."""
        script = shlex.join(map(str, command))
        self._socket.settimeout(timeout)
        self._socket.sendall(base64.b64encode(script.encode()) + b"\n")
        line = b""
        while not line.endswith(b"\n"):
            more = self._socket.recv(65536)
            if not more:
                raise RuntimeError(f"the machine ended: {self._qemu.lines[-6:]}")
            line += more
        status, out, err = line.strip().split(b".")
        return subprocess.CompletedProcess(command, int(status), base64.b64decode(out).decode(errors="replace"),
                                           base64.b64decode(err).decode(errors="replace"))

    def stop(self):
        self._qemu.stop()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
