# SPDX-License-Identifier: Apache-2.0
"""Kills a program at each of its steps, one after the other: killer.c says what a step is."""

import os
import pathlib
import signal
import subprocess
import tempfile

_SOURCE = pathlib.Path(__file__).with_name("killer.c")


class Killer:
    """As a context; run() gives a program's end with the kill at a step, or without one where the step is not reached."""

    def __enter__(self):
        self._folder = tempfile.TemporaryDirectory(prefix="imgcheck-killer-")
        self._library = str(pathlib.Path(self._folder.name) / "killer.so")
        subprocess.run(["cc", "-D_GNU_SOURCE", "-shared", "-fPIC", "-O1", "-o", self._library, _SOURCE], check=True)
        return self

    def __exit__(self, *_):
        self._folder.cleanup()

    def run(self, step, argv, seconds=60):
        """Whether the program was killed at the step (from 1); else it has ended by itself, and the status is its own."""
        env = dict(os.environ, LD_PRELOAD=self._library, KILL_AT=str(step))
        done = subprocess.run(argv, env=env, capture_output=True, text=True, timeout=seconds, check=False)
        return done.returncode == -signal.SIGKILL, done
