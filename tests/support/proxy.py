# SPDX-License-Identifier: Apache-2.0
"""Debian's tinyproxy on a loopback port, with names of its own.

A proxy is never asked for hosts on loopback, so tests ask it for names that it alone knows: it has a mount
namespace with a hosts file, which only root can make.
"""

import pathlib

from . import tool
from .nginx import bind
from .process import Process

_CONFIG = """
Listen 127.0.0.1
Port {port}
Timeout 30
MaxClients 100
LogLevel Info
{login}
"""


class Proxy:
    """folder: for configuration and log; names: hosts that it finds on 127.0.0.1; login: (user, password) that it wants."""

    def __init__(self, folder, names, login=None):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True)
        with bind() as listener:
            self.port = listener.getsockname()[1]
        (self.folder / "hosts").write_text("".join(f"127.0.0.1 {name}\n" for name in names), encoding="utf-8")
        (self.folder / "tinyproxy.conf").write_text(
            _CONFIG.format(port=self.port, login=f"BasicAuth {login[0]} {login[1]}" if login else ""), encoding="utf-8")
        script = 'mount --bind "$1" /etc/hosts && exec "$2" -d -c "$3"'
        self._process = Process(["unshare", "--mount", "sh", "-c", script, "sh", self.folder / "hosts", tool("tinyproxy"),
                                 self.folder / "tinyproxy.conf"], self.folder / "log")
        self._process.wait_for("Accepting connections")
        self.host = f"127.0.0.1:{self.port}"

    def requests(self):
        """What it was asked for: ("CONNECT", "host:port") or ("HEAD", "http://host/...")."""
        found = self._process.find_all(r"Request \(file descriptor \d+\): (\S+) (\S+) HTTP")
        return [(match[1], match[2]) for match in found]

    def stop(self):
        self._process.stop()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

