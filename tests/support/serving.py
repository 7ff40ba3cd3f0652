# SPDX-License-Identifier: Apache-2.0
"""What the servers of the tests have in common: a thread a connection, none of which keeps the test from ending, and no log."""

import http.server


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 512
    daemon_threads = True


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass
