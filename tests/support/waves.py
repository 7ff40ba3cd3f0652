# SPDX-License-Identifier: Apache-2.0
"""A registry that counts round trips: it keeps every answer back until no more requests come, then gives all at once.

Such a wave of answers is what one round trip on a long line brings, however fast the machine is. Behind nginx it
sees HTTP/1.1, one connection a request under way; what the client's connection costs comes on top: one round trip
for TCP, one for TLS 1.3.
"""

import http.client
import itertools
import json
import os
import threading
import urllib.parse

from . import serving

QUIET = 0.4  # seconds without a new request that end a wave, where the machine has nothing else to do


def _quiet():
    """Longer where more is to run than there are processors: a request that waits for one of them is no part of the next wave."""
    return QUIET * min(4, max(1, os.getloadavg()[0] / os.cpu_count()))


class Waves(serving.Service):
    """In front of a registry (host:port); with tokens it asks for one a repository, which it gives itself at /token."""

    def __init__(self, registry, realm=None):
        self.registry, self.realm = registry, realm
        self.waves = []  # requests of each wave: [(method, path)]
        self._waiting = []
        self._changed = threading.Condition()
        self._stopped = False
        self._releases = threading.Thread(target=self._release, daemon=True)
        self._releases.start()
        super().__init__(_Handler)

    def hold(self, request):
        """Returns once the request's wave has come."""
        come = threading.Event()
        with self._changed:
            self._waiting.append((request, come))
            self._changed.notify_all()
        come.wait()

    def _release(self):
        with self._changed:
            while not self._stopped:
                seen = len(self._waiting)
                self._changed.wait(_quiet())
                if not self._waiting or len(self._waiting) != seen:
                    continue
                wave, self._waiting = self._waiting, []
                self.waves.append([request for request, _ in wave])
                for _, come in wave:
                    come.set()

    def requests(self):
        return list(itertools.chain.from_iterable(self.waves))

    def stop(self):
        super().stop()
        with self._changed:
            self._stopped = True
            for _, come in self._waiting:
                come.set()
            self._changed.notify_all()
        self._releases.join()


class _Handler(serving.Handler):
    def do_GET(self):
        waves = self.server.service
        waves.hold((self.command, self.path))
        place = urllib.parse.urlsplit(self.path)
        if waves.realm and place.path == "/token":
            scope = urllib.parse.parse_qs(place.query)["scope"][0]
            self._answer(200, {"Content-Type": "application/json"}, json.dumps({"token": _token(scope)}).encode())
        elif waves.realm and self.headers.get("Authorization") != f"Bearer {_token(_scope(place.path))}":
            self._answer(401, {"WWW-Authenticate": f'Bearer realm="{waves.realm}",service="waves"'}, b"")
        else:
            self._pass_on()

    do_HEAD = do_GET

    def _pass_on(self):
        connection = http.client.HTTPConnection(self.server.service.registry, timeout=20)
        connection.request(self.command, self.path, headers={"Accept": self.headers.get("Accept", "*/*")})
        response = connection.getresponse()
        body = response.read()
        kept = ("Content-Type", "Docker-Content-Digest", "Content-Length")
        self._answer(response.status, {name: response.headers[name] for name in kept if name in response.headers}, body)
        connection.close()

    def _answer(self, status, headers, body):
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


def _scope(path):
    repository = path.removeprefix("/v2/").split("/manifests/")[0].split("/blobs/")[0]
    return f"repository:{repository}:pull"


def _token(scope):
    return "token-" + scope.replace(":", "-").replace("/", "-")
