# SPDX-License-Identifier: Apache-2.0
"""A server process that lives as long as a test: started, waited for, ended by its own id."""

import re
import signal
import subprocess
import threading
import time

TIMEOUT = 20


def wait_until(condition, seconds=30):
    """The first true value of condition()."""
    limit = time.monotonic() + seconds
    while time.monotonic() < limit:
        value = condition()
        if value:
            return value
        time.sleep(0.01)
    raise TimeoutError("the condition did not come true")


class Process:
    """Runs argv and keeps what it prints, line by line, in memory and in a file.

    The kernel sends end_by to the process when the thread that started it dies, however that happens.
    """

    def __init__(self, argv, log, end_by=signal.SIGTERM, **options):
        self._end_by = end_by
        self.lines = []
        self._changed = threading.Condition()
        self._log = open(log, "w", encoding="utf-8")
        self._process = subprocess.Popen(
            ["setpriv", "--pdeathsig", end_by.name.removeprefix("SIG"), *map(str, argv)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, errors="replace", **options)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def pid(self):
        return self._process.pid

    def is_running(self):
        return self._process.poll() is None

    def _read(self):
        for line in self._process.stdout:
            self._log.write(line)
            self._log.flush()
            with self._changed:
                self.lines.append(line.rstrip("\n"))
                self._changed.notify_all()
        with self._changed:
            self.lines.append(None)
            self._changed.notify_all()

    def wait_for(self, pattern, timeout=TIMEOUT):
        """The match of the first line, from the start, in which pattern is found."""
        pattern = re.compile(pattern)
        limit = time.monotonic() + timeout
        seen = 0
        with self._changed:
            while True:
                for line in self.lines[seen:]:
                    if line is None:
                        raise RuntimeError(f"server ended: {self._log.name}: {self.lines[-6:-1]}")
                    match = pattern.search(line)
                    if match:
                        return match
                seen = len(self.lines)
                if not self._changed.wait(limit - time.monotonic()):
                    raise TimeoutError(f"no line with {pattern.pattern!r} in {self._log.name}")

    def find_all(self, pattern):
        """The matches in all lines so far."""
        with self._changed:
            lines = [line for line in self.lines if line is not None]
        return [match for match in map(re.compile(pattern).search, lines) if match]

    def stop(self):
        """Ends the process and waits for it."""
        if self._process.poll() is None:
            self._process.send_signal(self._end_by)
            try:
                self._process.wait(5)
            except subprocess.TimeoutExpired:
                self._process.kill()
        self._process.wait()
        self._reader.join()
        self._process.stdout.close()
        self._log.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
