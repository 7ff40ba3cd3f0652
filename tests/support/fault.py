# SPDX-License-Identifier: Apache-2.0
"""The fault server (tests/fault): answers as a script says; tests/fault/script.h has the format."""

import collections
import pathlib
import subprocess

from . import built

Seen = collections.namedtuple("Seen", "connection method target fields body")


class Fault:
    """folder: for the script and the log. script: its text, or the path of a file. pair: a certs.Pair, for https.

    client_ca: clients must show a certificate of that authority. seconds: the longest it may live.
    """

    def __init__(self, folder, script, pair=None, client_ca=None, seconds=120):
        folder = pathlib.Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        path = script
        if isinstance(script, str):
            path = folder / "script"
            path.write_text(script, encoding="utf-8")
        self._log = folder / "log"
        arguments = ["-l", self._log, "-t", seconds]
        if pair:
            arguments += ["-c", pair.crt, "-k", pair.key]
        if client_ca:
            arguments += ["-a", client_ca]
        self._process = subprocess.Popen([built("tests/faultserver"), *map(str, arguments), str(path)], text=True,
                                         stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.base = self._process.stdout.readline().strip()
        if not self.base:
            self.stop()
            raise RuntimeError(f"the fault server does not take {path}")
        self.host = self.base.split("://")[1]

    def requests(self):
        """What was asked so far, in order."""
        seen = []
        for line in self._log.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("\t= "):
                seen[-1] = seen[-1]._replace(body=line[3:])
            elif line.startswith("\t"):
                name, _, value = line[1:].partition(":")
                seen[-1].fields[name] = value.strip()
            elif line.count(" ") >= 2:
                connection, method, target = line.split(" ")[:3]
                seen.append(Seen(int(connection), method, target, {}, ""))
        return seen

    def stop(self):
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait(20)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
        if self._process.returncode != 0:
            raise RuntimeError(f"the fault server ended with status {self._process.returncode}")
