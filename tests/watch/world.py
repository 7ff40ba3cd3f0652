# SPDX-License-Identifier: Apache-2.0
"""What the tests of the watch share: a registry behind a front that can go bad, and a watch whose events are kept."""

import atexit
import contextlib
import functools
import http.client
import json
import pathlib
import subprocess
import tempfile
import threading
import unittest

from support import built
from support.badserver import BadServer, response
from support.images import Client
from support.registry import Registry

IMGCHECK = built("imgcheck")
GONE = "/v2/{}/manifests/{}"


@functools.lru_cache(None)
def shared_registry():
    """A registry for tests that only add to it, and a client; they end with all tests."""
    stack = contextlib.ExitStack()
    atexit.register(stack.close)
    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="imgcheck-watch-"))
    registry = stack.enter_context(Registry(pathlib.Path(folder) / "registry"))
    return registry, stack.enter_context(Client(registry.host))


def with_body(connection, request):
    """The request with all of its body, of which some may have come with its head."""
    head, _, body = request.partition("\r\n\r\n")
    length = next((int(line.split(":")[1]) for line in head.split("\r\n") if line.lower().startswith("content-length:")), 0)
    while len(body) < length:
        body += connection.recv(65536).decode("latin-1")
    return f"{head}\r\n\r\n{body}"


class Front:
    """A port that stays while what is behind it changes: a registry, nothing, or one answer to everything."""

    def __init__(self, registry=None):
        self.registry = registry
        self.answer = None  # bytes, or a function of the request's head
        self._server = BadServer(self._behave)
        self.host = self._server.host

    @property
    def requests(self):
        return self._server.requests

    def _behave(self, _server, connection, request):
        request = with_body(connection, request)
        if callable(self.answer):
            return self.answer(request)
        if self.answer or not self.registry:
            return self.answer
        return self.forward(request)

    def forward(self, request):
        head, _, body = request.partition("\r\n\r\n")
        method, path, _ = head.split("\r\n")[0].split(" ")
        fields = dict(line.split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line)
        fields = {name: value for name, value in fields.items() if name.lower() != "host"}
        connection = http.client.HTTPConnection(self.registry, timeout=20)
        try:
            connection.request(method, path, body.encode("latin-1") or None, fields)
            answer = connection.getresponse()
            body = answer.read()
        except OSError:
            return None
        finally:
            connection.close()
        lines = [f"HTTP/1.1 {answer.status} {answer.reason}"]
        lines += [f"{name}: {value}" for name, value in answer.getheaders() if name.lower() != "transfer-encoding"]
        return "\r\n".join(lines + ["", ""]).encode("latin-1") + body

    def stop(self):
        self._server.stop()


class Receiver:
    """A webhook's receiver: keeps the events, and answers with one status after the other, the last one for ever."""

    def __init__(self, *answers):
        self.answers = list(answers) or [response(204)]
        self.posts = []
        self._changed = threading.Condition()
        self._server = BadServer(self._behave)
        self.url = f"http://{self._server.host}/hook"

    def _behave(self, _server, connection, request):
        head, _, body = with_body(connection, request).partition("\r\n\r\n")
        fields = {name.lower(): value for name, value in
                  (line.split(": ", 1) for line in head.split("\r\n")[1:])}
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        with self._changed:
            self.posts.append((head, fields, json.loads(body.encode("latin-1"))))
            self._changed.notify_all()
        return answer(_server) if callable(answer) else answer

    def wait_for(self, count, seconds=20):
        with self._changed:
            return self._changed.wait_for(lambda: len(self.posts) >= count, seconds)

    def events(self):
        return [short(event) for _, _, event in self.posts]

    def stop(self):
        self._server.stop()


def short(event):
    """("changed", "a:1") of an event: its type without what all have, and the end of its subject."""
    return event["type"].removeprefix("imgcheck.image."), event["subject"].rsplit("/", 1)[-1]


class Case(unittest.TestCase):
    """A test with a folder, a registry, a front before it, and a watch of what it says."""

    maxDiff = None

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="imgcheck-watch-")))
        self.config = self.folder / "watch.yaml"
        self.state = self.folder / "watch.yaml.state"
        self.told = self.folder / "told"

    def start_registry(self):
        self.registry = self.enterContext(Registry(self.folder / "registry"))
        self.client = self.enterContext(Client(self.registry.host))
        self.front = self.start_front(self.registry.host)

    def start_front(self, registry=None):
        front = Front(registry)
        self.addCleanup(front.stop)
        return front

    def receiver(self, *answers):
        receiver = Receiver(*answers)
        self.addCleanup(receiver.stop)
        return receiver

    def write_config(self, *refs, more="", host=None):
        host = host or self.front.host
        images = "".join(f"- {{image: '{host}/{ref}'}}\n" for ref in refs)
        self.config.write_text(f"plain-http: ['{host}']\ndeadline: 20\n{more}images:\n{images}", encoding="utf-8")

    def command(self, *options):
        return [IMGCHECK, "watch", "--config", str(self.config), *map(str, options)]

    def run_watch(self, *options, status=0, **more):
        """One round; what it printed to standard output and error."""
        done = subprocess.run(self.command("--once", *options), capture_output=True, text=True, timeout=60, check=False, **more)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def round(self, *options, status=0, **more):
        """One round, and the events that it told a command."""
        self.told.write_text("", encoding="utf-8")
        self.run_watch("--on-event", f"cat >> {self.told}", *options, status=status, **more)
        return [short(event) for event in self.events()]

    def events(self):
        return [json.loads(line) for line in self.told.read_text(encoding="utf-8").splitlines()]

    def read_state(self):
        return json.loads(self.state.read_text(encoding="utf-8"))
