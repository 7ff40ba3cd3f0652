# SPDX-License-Identifier: Apache-2.0
"""What the servers of the tests have in common: a thread a connection, none of which keeps the test from ending, and no log."""

import http.server
import threading


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 512
    daemon_threads = True


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass


class Service:
    """A server with a thread of its own, from the start until stop(); to its handlers it is `self.server.service`."""

    def __init__(self, handler):
        self._server = Server(("127.0.0.1", 0), handler)
        self._server.service = self
        self.host = f"127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    def stop(self):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
