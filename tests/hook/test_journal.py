# SPDX-License-Identifier: Apache-2.0
"""The line in the journal: a socket of the test stands for /dev/log, in a mount namespace of the hook's own."""

import os
import socket
import subprocess

import trees
from support.badserver import refused

# A /dev with what a program wants of it, and the socket.
PRIVATE_DEV = """set -e
mkdir "$1/dev" && mount --rbind /dev "$1/dev" && mount -t tmpfs tmpfs /dev
for name in null zero random urandom; do ln -s "$1/dev/$name" /dev/; done
ln -s "$1/log" /dev/log
shift
exec "$@"
"""


def why_not():
    if os.geteuid() != 0:
        return "not root, so /dev/log cannot be stood in for"
    done = subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False)
    return None if done.returncode == 0 else "no mount namespaces here"


class Journal(trees.TreeTest):
    def setUp(self):
        super().setUp()
        reason = why_not()
        if reason:
            self.skipTest(reason)
        self.log = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(self.log.close)
        self.log.bind(str(self.folder / "log"))
        self.log.settimeout(10)
        self.tree.add("1")
        self.tree.set_current("1")
        self.tree.extra["SNAP_INSTANCE_NAME"] = "toy_blue"
        plain = self.tree.command
        self.tree.command = lambda hook: ["unshare", "--mount", "sh", "-c", PRIVATE_DEV, "sh", self.folder, *plain(hook)]

    def entry(self):
        """The priority, the identifier and the text of the one line that came."""
        line = self.log.recv(4096).decode()
        priority, rest = line[1:].split(">", 1)
        self.log.setblocking(False)
        with self.assertRaises(BlockingIOError):
            self.log.recv(4096)
        self.log.settimeout(10)
        head, text = rest.split("]: ", 1)
        return int(priority) & 7, head.split()[-1].split("[")[0], text

    def run_once(self, settings, **keys):
        self.tree.configure({"kubeconfig": "x", "registry": refused(), "imgcheck": {"deadline": 10, "on-unproven": "veto"} | settings} | keys)
        status, output = self.tree.run_hook("pre-refresh")
        (self.folder / "dev").rmdir()
        return status, output, self.entry()

    def test_one_line_for_each_run(self):
        error, warning = 3, 4
        status, output, entry = self.run_once({})
        self.assertEqual(status, 0, output)
        self.assertEqual(entry[:2], (warning, "toy_blue.imgcheck"))
        self.assertIn("result=skipped", entry[2])
        self.tree.add("2", "{{ registry }}/a:v1")
        _, output, entry = self.run_once({"on-undecided": "veto"})
        self.assertEqual(entry, (error, "toy_blue.imgcheck",
                                 "pre-refresh result=vetoed decision=veto from=1 to=2 mode=enforce ok=0 undecided=1"), output)
        _, _, entry = self.run_once({"on-undecided": "veto", "mode": "warn"})
        self.assertEqual(entry[0], warning)
        self.assertIn("result=allowed decision=veto", entry[2])

    def test_a_journal_that_takes_nothing_does_not_hold_the_hook(self):
        self.tree.add("2", "{{ registry }}/a:v1")
        self.tree.configure({"kubeconfig": "x", "registry": refused(), "imgcheck": {"on-unproven": "veto"}})
        filler = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(filler.close)
        filler.setblocking(False)
        with self.assertRaises(BlockingIOError):
            while True:
                filler.sendto(b"x", str(self.folder / "log"))
        status, output = self.tree.run_hook("pre-refresh", timeout=20)
        self.assertEqual(status, 1, output)
        self.assertIn("/a:v1", output)
