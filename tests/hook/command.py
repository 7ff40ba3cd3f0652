# SPDX-License-Identifier: Apache-2.0
"""What tests of the command share: a folder of their own, and the command run in it."""

import os
import pathlib
import subprocess
import tempfile
import unittest

from support import built


def clean_environment():
    kept = ("PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS", "LC_ALL")
    return {key: os.environ[key] for key in kept if key in os.environ}


class CommandTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="imgcheck-commands-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.environment = clean_environment()

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def run_it(self, *arguments, status=0, stdin=None):
        done = subprocess.run([built("imgcheck"), *map(str, arguments)], input=stdin, capture_output=True, text=True,
                              timeout=60, check=False, env=self.environment, cwd=self.folder)
        self.assertEqual(done.returncode, status, f"{arguments}: {done.stdout}{done.stderr}")
        return done
