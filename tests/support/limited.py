# SPDX-License-Identifier: Apache-2.0
"""A registry that has every image, and admits so many requests in a second: the others get 429 and Retry-After."""

import collections
import threading
import time

from . import serving

Request = collections.namedtuple("Request", "time method path status")
DIGEST = "sha256:" + "5e" * 32


class Limited(serving.Service):
    def __init__(self, each_second, retry_after=1):
        self.each_second, self.retry_after = each_second, retry_after
        self.requests = []
        self._lock = threading.Lock()
        super().__init__(_Handler)

    def admit(self, method, path):
        with self._lock:
            now = time.monotonic()
            admitted = sum(request.status == 200 and now - request.time < 1 for request in self.requests[-20 * self.each_second:])
            status = 200 if admitted < self.each_second else 429
            self.requests.append(Request(now, method, path, status))
        return status


class _Handler(serving.Handler):
    def do_HEAD(self):
        limited = self.server.service
        status = limited.admit(self.command, self.path)
        self.send_response(status)
        if status == 429:
            self.send_header("Retry-After", str(limited.retry_after))
        else:
            self.send_header("Content-Type", "application/vnd.oci.image.manifest.v1+json")
            self.send_header("Docker-Content-Digest", DIGEST)
        self.send_header("Content-Length", "100" if status == 200 else "0")
        self.end_headers()
