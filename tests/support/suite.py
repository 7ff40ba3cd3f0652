# SPDX-License-Identifier: Apache-2.0
"""Runs a folder of unittest modules; the last line is "N passed, N failed", with ", N skipped" where any was."""

import pathlib
import sys
import time
import unittest


class _Result(unittest.TextTestResult):
    """Counts tests, not sub-tests: one with a failing row has failed once."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.good, self.bad = 0, set()

    def startTest(self, test):
        super().startTest(test)
        self._began = time.monotonic()

    def stopTest(self, test):
        took = time.monotonic() - self._began
        if took > 5:
            self.stream.writeln(f"     ({took:.0f} s)")
        super().stopTest(test)

    def addSuccess(self, test):
        super().addSuccess(test)
        self.good += 1

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.bad.add(test.id())

    def addError(self, test, err):
        super().addError(test, err)
        self.bad.add(test.id())

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.bad.add(test.id())


def run(folder, patterns):
    """Runs test_*.py of folder, or what unittest names like patterns. Returns an exit status."""
    sys.path.insert(0, str(folder))
    loader = unittest.TestLoader()
    if patterns:
        loader.testNamePatterns = [f"*{pattern}*" for pattern in patterns]
    tests = unittest.TestSuite(loader.loadTestsFromName(path.stem)
                               for path in sorted(pathlib.Path(folder).glob("test_*.py")))
    result = unittest.TextTestRunner(sys.stdout, verbosity=2, resultclass=_Result).run(tests)
    failed, skipped = len(result.bad), len(result.skipped)
    print(f"{result.good} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if failed else 0
