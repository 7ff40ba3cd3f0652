# SPDX-License-Identifier: Apache-2.0
"""snap/local/check-snap.sh on the example snap, and on the ways in which a veto is lost in silence."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from support import ROOT, built
from support.snaptree import NEW, assemble

SCRIPT = ROOT / "snap" / "local" / "check-snap.sh"


class CheckSnap(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="imgcheck-snap-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name) / "snap"
        assemble(self.folder, NEW, built("imgcheck"))
        self.hook = self.folder / "meta" / "hooks" / "pre-refresh"

    def check(self, expected, word, snap=None):
        done = subprocess.run([SCRIPT, snap or self.folder], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, expected, done.stdout + done.stderr)
        self.assertIn(word, done.stdout + done.stderr)

    def test_the_example(self):
        self.check(0, "imgcheck 0.")

    @unittest.skipUnless(shutil.which("mksquashfs") and shutil.which("unsquashfs"), "no squashfs-tools")
    def test_a_file(self):
        path = self.folder.parent / "a.snap"
        subprocess.run(["mksquashfs", self.folder, path, "-quiet", "-no-progress"], check=True, capture_output=True)
        self.check(0, "imgcheck 0.", path)
        path.write_bytes(b"no snap")
        self.check(2, "cannot unpack", path)

    def test_a_stub(self):
        self.hook.write_text("#!/bin/true\n", encoding="utf-8")
        self.check(1, "is a script that does not call imgcheck")

    def test_a_script_of_the_snap_that_calls_it(self):
        self.hook.write_text('#!/bin/sh\nexec "$SNAP/bin/imgcheck" hook pre-refresh\n', encoding="utf-8")
        self.check(0, "imgcheck 0.")
        (self.folder / "bin" / "imgcheck").unlink()
        self.check(1, "bin/imgcheck is missing")

    def test_a_missing_hook(self):
        self.hook.unlink()
        self.check(1, "meta/hooks/pre-refresh is missing")

    def test_a_hook_that_cannot_run(self):
        self.hook.chmod(0o644)
        self.check(1, "not executable")
        self.hook.chmod(0o755)
        for library in (self.folder / "usr" / "lib").glob("libimgcheck*"):
            library.unlink()
        self.check(1, "does not run")

    def test_another_program(self):
        shutil.copy(os.path.realpath("/bin/true"), self.hook)
        self.check(1, "is not imgcheck")

    def test_a_missing_plug(self):
        path = self.folder / "meta" / "snap.yaml"
        text = path.read_text(encoding="utf-8")
        before, after = text.split("  pre-refresh:\n    plugs: [network]\n")
        for plugs, expected in (("  pre-refresh: {}\n", 1), ("", 1), ("  pre-refresh:\n    plugs: [home]\n", 1),
                                ("  pre-refresh:\n    plugs:\n    - network\n", 0), ("  pre-refresh: {plugs: [network]}\n", 0)):
            with self.subTest(plugs):
                path.write_text(before + plugs + after, encoding="utf-8")
                self.check(expected, "no plug network" if expected else "imgcheck 0.")

    def test_a_missing_description(self):
        (self.folder / "meta" / "imgcheck.yaml").unlink()
        self.check(1, "meta/imgcheck.yaml is missing")
