# SPDX-License-Identifier: Apache-2.0
"""Which texts a program leaves in the memory that it gives back (freed.c)."""

import subprocess

from . import ROOT


class Freed:
    """folder: for what is built and found. The program must not have a free() of a sanitizer's."""

    OURS = ("imgcheck", "libimgcheck.so.0")

    def __init__(self, folder, texts):
        self.texts = texts
        self._library, self._found = folder / "freed.so", folder / "freed"
        if not self._library.exists():
            subprocess.run(["cc", "-D_GNU_SOURCE", "-O1", "-fPIC", "-shared", "-o", self._library, ROOT / "tests" / "support" / "freed.c"],
                           check=True)
        self._found.unlink(missing_ok=True)

    @staticmethod
    def program():
        """The one without sanitizers, or None."""
        path = ROOT / "build" / "release" / "imgcheck"
        return path if path.exists() else None

    def environment(self):
        return {"LD_PRELOAD": str(self._library), "FREED_FOUND": str(self._found), "FREED_TEXTS": "|".join(self.texts)}

    def lines(self):
        """All that was found so far: the number of a text, and who gave it back."""
        return self._found.read_text(encoding="utf-8").splitlines()

    def ours(self):
        """What code of ours gave back. (libcurl, OpenSSL and libyaml are not ours.)"""
        return [line for line in self.lines() if line.split()[1].split("+")[0].rsplit("/", 1)[-1] in self.OURS]
