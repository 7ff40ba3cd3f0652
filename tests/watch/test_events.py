# SPDX-License-Identifier: Apache-2.0
"""Events on their way: to commands and webhooks, good and bad; at least once, in order, never silently dropped."""

import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import time
import unittest

from support.badserver import refused, response, silent
from support.process import Process
from world import Case, short


# A /dev with what a program wants of it, and a socket of the test in place of the system's log.
PRIVATE_DEV = """set -e
mkdir "$1/dev" && mount --rbind /dev "$1/dev" && mount -t tmpfs tmpfs /dev
for name in null zero random urandom; do ln -s "$1/dev/$name" /dev/; done
ln -s "$1/log" /dev/log
shift
exec "$@"
"""


# Runs a program where a proxy listens on the port that nobody writes; prints what it is asked first.
PROXY_ON_80 = """
import socket, subprocess, sys
subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
server = socket.create_server(("127.0.0.1", 80))
server.settimeout(20)
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
connection = server.accept()[0]
server.close()
print(connection.recv(1000).decode().splitlines()[0])
connection.close()
process.wait()
"""


class Changed(Case):
    """Images that have changed since a watch last looked."""

    def changed(self, count=1):
        """A config of so many images, all of which have changed since the watch last looked."""
        self.start_registry()
        for i in range(count):
            self.client.push(f"r{i}", "1")
        self.write_config(*(f"r{i}:1" for i in range(count)))
        self.run_watch()
        for i in range(count):
            self.client.push(f"r{i}", "1", ("linux/arm64",))
        return [("changed", f"r{i}:1") for i in range(count)]

    def waiting(self):
        return [event["subject"].rsplit("/", 1)[-1] for event in self.read_state()["events"]]


class Events(Changed):
    def test_a_webhook_gets_a_cloud_event(self):
        expected = self.changed()
        receiver = self.receiver()
        self.run_watch("--webhook", receiver.url)
        self.assertEqual(receiver.events(), expected)
        head, fields, event = receiver.posts[0]
        self.assertTrue(head.startswith("POST /hook HTTP/1.1"))
        self.assertEqual(fields["content-type"], "application/cloudevents+json; charset=UTF-8")
        for name in ("specversion", "id", "source", "type", "subject", "time", "datacontenttype", "data"):
            self.assertTrue(event[name], name)
        self.assertEqual(event["specversion"], "1.0")
        self.assertRegex(event["time"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        self.assertEqual(set(event["data"]), {"reference", "digest", "previous", "host", "nodes"})
        self.run_watch("--webhook", receiver.url)
        self.assertEqual(len(receiver.posts), 1)
        self.assertEqual(self.waiting(), [])

    def test_a_proxy_without_a_port_is_asked_on_that_of_its_scheme(self):
        self.changed()
        self.run_watch("--on-event", "exit 1", status=4)
        done = subprocess.run(["unshare", "--net", "python3", "-c", PROXY_ON_80, *self.command("--once", "--webhook", "http://hook.test/x")],
                              env=dict(os.environ, http_proxy="http://127.0.0.1"), capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.stdout, "POST http://hook.test/x HTTP/1.1\n", done.stderr)

    def test_a_command_gets_json_and_variables(self):
        self.changed()
        out = self.folder / "out"
        self.run_watch("--on-event", f"cat > {out}; env | grep ^IMGCHECK_ | sort > {out}.env; pwd >&2; echo more")
        event = json.loads(out.read_text())
        variables = dict(line.split("=", 1) for line in pathlib.Path(f"{out}.env").read_text().splitlines())
        self.assertEqual(variables["IMGCHECK_EVENT"], "image.changed")
        self.assertEqual(variables["IMGCHECK_EVENT_ID"], event["id"])
        self.assertEqual(variables["IMGCHECK_SUBJECT"], event["subject"])
        for name in ("digest", "previous", "reference", "host", "nodes"):
            self.assertEqual(variables[f"IMGCHECK_{name.upper()}"], event["data"][name])

    def test_output_is_a_line_for_each(self):
        self.changed(2)
        lines = self.run_watch().stdout.splitlines()
        self.assertEqual([re.sub(r"^\S+ ", "", line).split(": ")[0].split("/")[-1] for line in lines], ["r0:1", "r1:1"])
        self.assertTrue(all(re.match(r"20\S+Z image\.changed \S+: sha256:\w+ -> sha256:\w+$", line) for line in lines), lines)

    def test_what_fails_stays_and_is_told_when_it_works(self):
        expected = self.changed(3)
        receivers = [self.receiver(answer) for answer in (response(500), response(302, Location="http://127.0.0.1:1/"),
                                                          response(404), b"nonsense\r\n\r\n")]
        for receiver in receivers:
            with self.subTest(receiver.answers):
                done = self.run_watch("--webhook", receiver.url, status=4)
                self.assertIn("cannot tell an event by webhook", done.stderr)
                self.assertEqual(self.waiting(), ["r0:1", "r1:1", "r2:1"])
                self.assertEqual(set(receiver.events()), {expected[0]}, "in order: nothing behind the one that failed")
                self.forget_pause()
        self.run_watch("--webhook", f"http://{refused()}/", status=4)
        self.forget_pause()
        good = self.receiver(response(503), response(204))
        self.run_watch("--webhook", good.url)
        self.assertEqual(good.events(), expected[:1] + expected, "once more what failed, then the rest")
        self.assertEqual(self.waiting(), [])

    def forget_pause(self):
        """As if the time had come to try again."""
        document = self.read_state()
        for sink in document["sinks"]:
            sink["not_before"] = sink["failures"] = 0
        self.state.write_text(json.dumps(document), encoding="utf-8")

    def test_a_receiver_that_is_down_does_not_keep_the_others_waiting(self):
        expected = self.changed(2)
        bad = self.receiver(response(500))
        self.assertEqual(self.round("--webhook", bad.url, status=4), expected)
        self.assertEqual(self.round("--webhook", bad.url, status=4), [], "the command is not told twice")
        good = self.receiver()
        self.forget_pause()
        self.assertEqual(self.round("--webhook", good.url), [])
        self.assertEqual(good.events(), expected)

    def test_retry_after_is_kept_to(self):
        self.changed()
        receiver = self.receiver(response(429, Retry_After="600"))
        self.run_watch("--webhook", receiver.url, status=4)
        self.assertEqual(len(receiver.posts), 1)
        self.run_watch("--webhook", receiver.url, status=4)
        self.assertEqual(len(receiver.posts), 1)
        sink = next(sink for sink in self.read_state()["sinks"] if sink["name"] == "webhook")
        self.assertGreater(sink["not_before"], time.time() + 500)

    def test_a_command_that_fails_or_is_not_there(self):
        self.changed()
        for command, said in (("echo no way >&2; exit 3", "exit status 3: no way"), ("kill -9 $$", "ended by signal 9"),
                              ("/nowhere/at/all", "exit status 127")):
            with self.subTest(command):
                done = self.run_watch("--on-event", command, status=4)
                self.assertIn(said, done.stderr)
                self.assertEqual(self.waiting(), ["r0:1"])
                self.forget_pause()

    def test_nobody_who_reads_the_output_is_no_reason_to_stop(self):
        expected = self.changed(2)
        self.told.write_text("", encoding="utf-8")
        reader, writer = os.pipe()
        os.close(reader)
        try:
            done = subprocess.run(self.command("--once", "--on-event", f"cat >> {self.told}; yes | head -1 >&2"), stdout=writer,
                                  stderr=subprocess.PIPE, timeout=60, check=False)
        finally:
            os.close(writer)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([short(event) for event in self.events()], expected)

    @unittest.skipUnless(os.geteuid() == 0, "not root, so /dev/log cannot be stood in for")
    def test_syslog(self):
        self.changed()
        log = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(log.close)
        log.bind(str(self.folder / "log"))
        log.settimeout(10)
        done = subprocess.run(["unshare", "--mount", "sh", "-c", PRIVATE_DEV, "sh", self.folder, *self.command("--once", "--syslog")],
                              capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(log.recv(4096).decode(), r"^<28>.*imgcheck\[\d+\]: 20\S+Z image\.changed \S+/r0:1: sha256:")

    def test_secrets_of_a_webhook_are_shown_nowhere(self):
        self.changed()
        secret = self.folder / "url"
        address = f"http://user:pass-word@{refused()}/services/T0-secret?token=abc-secret"
        secret.write_text(address + "\n", encoding="utf-8")
        page, metrics = self.folder / "page", self.folder / "metrics"
        done = self.run_watch("--webhook", f"@{secret}", "--html", page, "--metrics", metrics, status=4)
        for text in (done.stdout, done.stderr, page.read_text(), metrics.read_text(), self.state.read_text()):
            self.assertNotRegex(text, "secret|pass-word")
        for bad in ("ftp://x/secret", "secret", "", "http://", f"@{self.folder}/secret-file"):
            done = self.run_watch("--webhook", bad, status=2)
            self.assertNotIn("x/secret", done.stderr)

    def test_a_full_outbox_says_what_it_dropped(self):
        self.changed()
        document = self.read_state()
        document["events"] = [{"number": i + 1, "time": 1, "type": "image.changed", "subject": f"old/{i}", "data": {}} for i in range(2000)]
        document["last_event"] = 2000
        document["sinks"] = []
        self.state.write_text(json.dumps(document), encoding="utf-8")
        lines = self.run_watch().stdout.splitlines()
        self.assertEqual(len(lines), 2000)
        self.assertIn("events.dropped outbox: more events than could be told", lines[0])
        self.assertIn("old/2", lines[1])
        self.assertIn("r0:1", lines[-1])


class Staying(Case):
    """A watch that stays."""

    def start(self, *options):
        process = Process(self.command("--interval", "1h", "--on-event", f"cat >> {self.told}", *options), self.folder / "log")
        self.addCleanup(process.stop)
        return process

    def wait_for(self, condition, seconds=20):
        limit = time.monotonic() + seconds
        while not condition():
            self.assertLess(time.monotonic(), limit, "it does not come about")
            time.sleep(0.02)

    def rounds(self):
        return self.read_state()["round"] if self.state.exists() else 0

    def test_hup_is_a_round_and_term_an_end(self):
        self.start_registry()
        self.client.push("a", "1")
        self.write_config("a:1")
        self.told.write_text("")
        watch = self.start()
        self.wait_for(lambda: len(self.front.requests) == 1 and self.rounds())
        self.client.push("a", "1", ("linux/arm64",))
        os.kill(watch.pid, signal.SIGHUP)
        self.wait_for(self.events)
        self.assertEqual([short(event) for event in self.events()], [("changed", "a:1")])
        second = subprocess.run(self.command(), capture_output=True, text=True, timeout=20, check=False)
        self.assertEqual(second.returncode, 70)
        self.assertIn("another imgcheck watch does", second.stderr)
        self.client.push("a", "1")
        self.run_watch()
        self.assertEqual(len(self.front.requests), 3, "a round from outside, beside the one that stays")
        self.assertEqual(len(self.read_state()["events"]), 1, "the one that stays has still to tell its command")
        os.kill(watch.pid, signal.SIGHUP)
        self.wait_for(lambda: not self.read_state()["events"])
        self.assertEqual([short(event) for event in self.events()], 2 * [("changed", "a:1")])
        os.kill(watch.pid, signal.SIGTERM)
        self.wait_for(lambda: not watch.is_running())
        self.read_state()

    def test_a_configuration_that_became_wrong_stays_as_it_was(self):
        self.start_registry()
        self.client.push("a", "1")
        self.client.push("b", "1")
        self.write_config("a:1")
        watch = self.start()
        self.wait_for(self.rounds)
        self.config.write_text("images: 1\n", encoding="utf-8")
        os.kill(watch.pid, signal.SIGHUP)
        watch.wait_for("the configuration stays as it was")
        self.wait_for(lambda: len(self.front.requests) == 2)
        self.write_config("a:1", "b:1")
        os.kill(watch.pid, signal.SIGHUP)
        self.wait_for(lambda: len(self.front.requests) == 4)

    def test_an_event_is_told_when_the_receiver_is_back_without_a_round(self):
        self.start_registry()
        self.client.push("a", "1")
        self.write_config("a:1")
        self.run_watch()
        self.client.push("a", "1", ("linux/arm64",))
        receiver = self.receiver(response(500), response(204))
        self.start("--webhook", receiver.url)
        self.assertTrue(receiver.wait_for(2))
        self.assertEqual(receiver.posts[0][2]["id"], receiver.posts[1][2]["id"])
        self.assertEqual(len(self.front.requests), 2)

    def test_term_ends_a_round_that_waits_for_a_silent_host(self):
        front = self.start_front()
        front.answer = lambda _request: silent(front._server, None, None)
        self.write_config("a:1", host=front.host)
        watch = self.start()
        self.wait_for(lambda: front.requests)
        os.kill(watch.pid, signal.SIGTERM)
        self.wait_for(lambda: not watch.is_running(), 5)
        self.assertFalse(self.state.exists(), "nothing of the round counts")

    def test_rounds_come_by_themselves(self):
        self.start_registry()
        self.client.push("a", "1")
        self.write_config("a:1")
        self.start("--interval", "1s", "--jitter")
        self.wait_for(lambda: len(self.front.requests) >= 3)
