# SPDX-License-Identifier: Apache-2.0
"""Debian's docker-registry on a loopback port: anonymous, with htpasswd, or with tokens.

Several can stand on one storage folder at a time, so images are pushed through an anonymous one and
asked for through another.
"""

import collections
import itertools
import json
import pathlib
import urllib.request

from . import tool
from .process import Process

Request = collections.namedtuple("Request", "method path status agent")

# What the combined log format holds of a request.
_ACCESS = r'"(?P<method>[A-Z]+) (?P<path>\S+) HTTP/[\d.]+" (?P<status>\d+) \d+ "[^"]*" "(?P<agent>[^"]*)"'
_MARK = "imgcheck-tests-mark"


class Registry:
    """folder: for log and configuration; storage: its images, below folder if not given; upstream: it is a
    pull-through cache of the registry at that host:port; within: a command that runs it elsewhere, in a namespace.
    """

    def __init__(self, folder, storage=None, auth=None, upstream=None, within=()):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.storage = pathlib.Path(storage or self.folder / "storage")
        self._marks = itertools.count()
        config = {
            "version": "0.1",
            "log": {"level": "info", "formatter": "text"},
            # No cache: several registries may share the folder, and tests take blobs away.
            "storage": {"filesystem": {"rootdirectory": str(self.storage)}, "delete": {"enabled": True},
                        "maintenance": {"uploadpurging": {"enabled": False}}},
            "http": {"addr": "127.0.0.1:0", "secret": "only for tests", "relativeurls": True},
        }
        if auth:
            config["auth"] = auth
        if upstream:
            config["proxy"] = {"remoteurl": f"http://{upstream}"}
        path = self.folder / "config.yml"
        path.write_text(json.dumps(config), encoding="utf-8")  # JSON is YAML
        self._process = Process([*within, tool("docker-registry"), "serve", path], self.folder / "log")
        self.port = int(self._process.wait_for(r"listening on 127\.0\.0\.1:(\d+)").group(1))
        self.host = f"127.0.0.1:{self.port}"
        self.pid = self._process.pid

    def requests(self):
        """All requests so far, in the order answered; waits until none is left in a buffer."""
        mark = f"{_MARK}-{next(self._marks)}"
        try:
            urllib.request.urlopen(f"http://{self.host}/{mark}", timeout=10).close()
        except urllib.error.HTTPError as error:
            error.close()
        self._process.wait_for(mark + " ")
        found = (Request(m["method"], m["path"], int(m["status"]), m["agent"])
                 for m in self._process.find_all(_ACCESS))
        return [request for request in found if _MARK not in request.path]

    def stop(self):
        self._process.stop()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


def htpasswd_auth(folder, logins):
    """The auth setting for docker-registry that admits {user: bcrypt hash}."""
    path = pathlib.Path(folder) / "htpasswd"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{user}:{hashed}\n" for user, hashed in logins.items()), encoding="utf-8")
    return {"htpasswd": {"realm": "tests", "path": str(path)}}


def token_auth(realm, service, certificate):
    """The auth setting for docker-registry that trusts the tokens of a TokenServer."""
    return {"token": {"realm": realm, "service": service, "issuer": "imgcheck tests",
                      "rootcertbundle": str(certificate)}}
