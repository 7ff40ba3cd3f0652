# SPDX-License-Identifier: Apache-2.0
"""Debian's containerd with folders of its own, as a judge of what a node pulls."""

import itertools
import pathlib
import subprocess

from . import tool
from .process import Process

_CONFIG = """
version = 2
root = "{folder}/root"
state = "{folder}/state"
disabled_plugins = ["io.containerd.grpc.v1.cri", "io.containerd.internal.v1.opt", "io.containerd.tracing.processor.v1.otlp",
                    "io.containerd.internal.v1.tracing"]
[grpc]
address = "{folder}/sock"
[ttrpc]
address = "{folder}/sock.ttrpc"
[plugins."io.containerd.metadata.v1.bolt"]
content_sharing_policy = "isolated"
"""


class Containerd:
    """folder: for all it writes; its path must be short, since a socket is in it. Only root can run it."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True)
        self._namespaces = itertools.count()
        (self.folder / "config.toml").write_text(_CONFIG.format(folder=self.folder), encoding="utf-8")
        self._process = Process([tool("containerd"), "--config", self.folder / "config.toml"], self.folder / "log")
        self._process.wait_for("containerd successfully booted")

    def version(self):
        return subprocess.run([tool("containerd"), "--version"], capture_output=True, text=True, check=True).stdout.split()[2]

    def pulls(self, reference, platform, *arguments, hosts_dir=None):
        """Whether `ctr images pull` gets the image, in a namespace that has seen nothing; and what it said."""
        arguments = [*arguments, *(["--hosts-dir", hosts_dir] if hosts_dir else [])]
        done = subprocess.run([tool("ctr"), "--address", self.folder / "sock", "--namespace", f"n{next(self._namespaces)}",
                               "images", "pull", "--snapshotter", "native", "--platform", platform, *arguments, reference],
                              capture_output=True, text=True, timeout=60, check=False, env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"})
        return done.returncode == 0, done.stdout + done.stderr

    def stop(self):
        self._process.stop()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
