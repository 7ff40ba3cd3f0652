# SPDX-License-Identifier: Apache-2.0
"""Killed at any step, out of disk, or with a state that was hurt: no event is lost, and nothing is forgotten in silence."""

import collections
import os
import signal
import subprocess
import unittest

from test_gate_kills import build_killer
from world import Case, short

# Of the steps of a round with events, every so many; the test of them all is a slow one.
STRIDE = 1 if os.environ.get("KILLS") == "all" else 3


class Crash(Case):
    def move(self, to):
        """Points the tags of both images at one of the two digests, as the registry keeps them."""
        for name in "ab":
            link = self.registry.storage / f"docker/registry/v2/repositories/{name}/_manifests/tags/1/current/link"
            link.write_text(self.digests[name][to], encoding="utf-8")

    def start(self):
        self.start_registry()
        self.digests = {name: [self.client.push(name, tag).digest for tag in "12"] for name in "ab"}
        self.client.push("a", "1")
        self.client.push("b", "1")
        self.write_config("a:1", "b:1", host=self.registry.host)
        self.told.write_text("", encoding="utf-8")

    def test_killed_at_any_step_no_event_is_lost(self):
        self.start()
        receiver = self.receiver()
        options = ["--on-event", f"cat >> {self.told}", "--webhook", receiver.url]
        self.run_watch(*options)
        killer = build_killer(self.folder)
        killed = status = step = 0
        while step == 0 or status:
            step += STRIDE
            self.move((step // STRIDE) % 2)
            status = subprocess.run(self.command("--once", *options), env=dict(os.environ, LD_PRELOAD=str(killer), KILL_AT=str(step)),
                                    capture_output=True, timeout=60, check=False).returncode
            self.assertIn(status, (0, -signal.SIGKILL))
            killed += status != 0
            self.run_watch(*options)
            self.check(step, self.events(), [event for _, _, event in receiver.posts])
            self.told.write_text("", encoding="utf-8")
            receiver.posts.clear()
        self.assertGreaterEqual(killed, 18 // STRIDE)

    def check(self, step, *ways):
        """Each of the two changes was told each way, with one id, and at most once more than needed."""
        for told in ways:
            ids = collections.defaultdict(list)
            for event in told:
                ids[short(event)].append(event["id"])
            self.assertEqual(sorted(ids), [("changed", "a:1"), ("changed", "b:1")], f"step {step}")
            for name, seen in ids.items():
                self.assertEqual(len(set(seen)), 1, f"step {step}: {name} got two ids")
                self.assertLessEqual(len(seen), 2, f"step {step}")

    @unittest.skipUnless(os.geteuid() == 0, "only root can mount")
    def test_a_full_disk_loses_no_event(self):
        """The state grows by the event, and there is no room: nothing is told, the round after that tells it."""
        self.start()
        disk = self.folder / "disk"
        disk.mkdir()
        script = (f"mount -t tmpfs -o size=64k none {disk} && mkdir {disk}/ballast; "
                  "watch() { \"$@\" --state " + f"{disk}/state --on-event 'cat >> {self.told}'; }}; "
                  'watch "$@"; echo "first $?"; read move; '
                  f"dd if=/dev/zero of={disk}/ballast/x bs=4k 2>/dev/null; cp {disk}/state {self.folder}/before; "
                  'watch "$@"; echo "full $?"; '
                  f"cmp {disk}/state {self.folder}/before && echo same; rm {disk}/ballast/x; "
                  'watch "$@"; echo "room $?"')
        process = subprocess.Popen(["unshare", "-m", "sh", "-c", script, "sh", *self.command("--once")], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        while not process.stdout.readline().startswith("first 0"):
            self.assertIsNone(process.poll())
        self.move(1)
        output, _ = process.communicate("\n", timeout=60)
        self.assertIn("No space left on device", output)
        self.assertIn("full 70", output)
        self.assertIn("same", output)
        self.assertIn("room 0", output)
        self.assertEqual([short(event) for event in self.events()], [("changed", "a:1"), ("changed", "b:1")])

    def test_a_state_that_was_hurt_is_left_as_it_is(self):
        self.start()
        self.run_watch()
        whole = self.state.read_text(encoding="utf-8")
        for text in ("", whole[:-20], whole[:len(whole) // 2], whole.replace('"version": 1', '"version": 2'), "{}", "nonsense"):
            with self.subTest(text[-30:]):
                self.state.write_text(text, encoding="utf-8")
                done = self.run_watch("--on-event", f"cat >> {self.told}", status=70)
                self.assertIn("cannot use the state", done.stderr)
                self.assertIn("left as it is", done.stderr)
                self.assertEqual(self.state.read_text(encoding="utf-8"), text)
        self.assertEqual(self.events(), [])
        self.state.write_text(whole, encoding="utf-8")
        self.assertEqual(self.round(), [])

    def test_a_state_in_use_is_waited_for_and_then_told(self):
        self.start()
        self.run_watch()
        with subprocess.Popen(["flock", f"{self.state}.lock", "sleep", "30"]) as holder:
            try:
                done = self.run_watch(status=4)
            finally:
                holder.terminate()
        self.assertIn("another imgcheck is at work on it", done.stderr)
