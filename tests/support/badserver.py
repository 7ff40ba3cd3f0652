# SPDX-License-Identifier: Apache-2.0
"""A server that behaves in one bad way, on raw sockets, in a thread of the test."""

import contextlib
import socket
import struct
import threading


class BadServer:
    """Calls behave(server, connection, request) for each request; request is its head as text.

    behave returns the bytes to answer with, or None to close. stopped tells a behaviour to give up waiting.
    context: an ssl.SSLContext, for https.
    """

    def __init__(self, behave, context=None):
        self._behave = behave
        self._context = context
        self._threads = []
        self.stopped = threading.Event()
        self.requests = []
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.host = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self._spawn(self._accept)

    def _spawn(self, function, *arguments):
        thread = threading.Thread(target=function, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                connection.settimeout(20)
                self._spawn(self._serve, connection)

    def _serve(self, connection):
        with contextlib.suppress(OSError):
            if self._context:
                connection = self._context.wrap_socket(connection, server_side=True)
            with connection:
                while not self.stopped.is_set():
                    request = _read_head(connection)
                    if not request:
                        return
                    self.requests.append(request.split("\r\n")[0])
                    answer = self._behave(self, connection, request)
                    if answer is None:
                        return
                    connection.sendall(answer)

    def stop(self):
        self.stopped.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


def _read_head(connection):
    data = b""
    while b"\r\n\r\n" not in data:
        more = connection.recv(4096)
        if not more:
            return ""
        data += more
    return data.decode("latin-1")


def response(status, body=b"", **headers):
    """An HTTP/1.1 answer; underscores in the names of headers stand for hyphens."""
    lines = [f"HTTP/1.1 {status} Status", f"Content-Length: {len(body)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join(lines + ["", ""]).encode() + body


def always(answer):
    """Answers every request alike; to HEAD without the body."""
    def behave(_server, _connection, request):
        head, end, body = answer.partition(b"\r\n\r\n")
        return head + end if request.startswith("HEAD ") else head + end + body
    return behave


def silent(server, _connection, _request):
    """Takes the request and says nothing."""
    server.stopped.wait(60)


def reset(_server, connection, _request):
    """Ends the connection with a reset."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def endless_head(server, connection, _request):
    """A header that goes on, a byte at a time."""
    connection.sendall(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    while not server.stopped.wait(0.2):
        connection.sendall(b"a")


def refused():
    """A host:port at which nobody listens: the kernel gave the port out a moment ago."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return f"127.0.0.1:{listener.getsockname()[1]}"
