# SPDX-License-Identifier: Apache-2.0
"""What a check shows while it goes on: at a terminal, in a pipe, and with --verbose."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
import unittest

import gallery
import world
from support import built
from support.badserver import BadServer, silent

COMMAND = [built("imgcheck"), "check", "--platform", world.PLATFORM]


def at_a_terminal(*arguments):
    """What a person would see of it, and the exit status."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 200, 0, 0))
    shown = b""
    with subprocess.Popen([*COMMAND, *map(str, arguments)], stdin=slave, stdout=slave, stderr=slave, close_fds=True) as process:
        os.close(slave)
        while True:
            try:
                data = os.read(master, 65536)
            except OSError:  # the other end is closed
                break
            if not data:
                break
            shown += data
        status = process.wait(60)
    os.close(master)
    return shown.decode(), status


class Progress(unittest.TestCase):
    def test_a_long_run_says_how_far_it_is_and_whom_it_waits_for(self):
        gallery.pictures()
        good = world.plain().host
        with BadServer(silent) as server:
            arguments = ("--deadline", 2, "--plain-http", server.host, "--plain-http", good, "--image", f"{server.host}/a:1",
                         "--image", f"{server.host}/b:1", "--image", f"{good}/good/oci:v1")
            shown, status = at_a_terminal(*arguments)
            self.assertEqual(status, 4)
            self.assertIn(f"\r\x1b[K1 of 3 images, waiting for {server.host} (2)", shown)
            # The line is gone before the report stands there.
            self.assertRegex(shown, r"\r\x1b\[K(?!\d+ of)[^\x1b]*$")
            done = subprocess.run([*COMMAND, *map(str, arguments)], capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual((done.returncode, done.stderr), (4, ""))
            self.assertNotIn("\x1b", done.stdout)

    def test_a_short_run_says_nothing(self):
        gallery.pictures()
        host = world.plain().host
        shown, status = at_a_terminal("--plain-http", host, "--image", f"{host}/good/oci:v1", "--quiet")
        self.assertEqual((shown, status), ("allow: 1 ok\r\n", 0))
        shown, status = at_a_terminal("--plain-http", host, "--image", f"{host}/good/oci:v1")
        self.assertEqual((status, "\x1b" in shown), (0, False))

    def test_verbose_tells_each_request(self):
        gallery.pictures()
        host = world.plain().host
        before = len(world.plain().requests())
        done = subprocess.run([*COMMAND, "--verbose", "--plain-http", host, "--image", f"{host}/good/oci:v1", "--image", f"{host}/nowhere/x:v1"],
                              capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 1)
        told = [re.fullmatch(r"([A-Z]+) http://[^/ ]+(/v2/\S+) (\d+)", line) for line in done.stderr.splitlines()]
        self.assertTrue(all(told), done.stderr)
        asked = world.plain().requests()[before:]
        self.assertEqual(sorted(match.groups() for match in told), sorted((r.method, r.path, str(r.status)) for r in asked))
