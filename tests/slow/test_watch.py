# SPDX-License-Identifier: Apache-2.0
"""What takes long of tests/watch: every moment at which a watch can be killed, and a receiver that says nothing."""

import os
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "watch"))
os.environ["KILLS"] = "all"

from support.badserver import silent  # noqa: E402
from test_crash import Crash  # noqa: E402, F401
import test_events  # noqa: E402


class Hangs(test_events.Changed):
    def test_a_receiver_that_hangs_is_given_up(self):
        self.changed()
        receiver = self.receiver(lambda server: silent(server, None, None))
        began = time.monotonic()
        done = self.run_watch("--webhook", receiver.url, status=4)
        self.assertLess(time.monotonic() - began, 35)
        self.assertIn("no answer: Timeout was reached", done.stderr)
        self.assertEqual(self.waiting(), ["r0:1"])
        self.assertEqual(len(receiver.posts), 2, "once more after a moment, the rest is for the next round")
