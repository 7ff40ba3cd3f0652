# SPDX-License-Identifier: Apache-2.0
"""The Debian packages: built twice and equal, nothing for lintian to say, and enough for programs that link the library."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from support import ROOT, outside
from support.images import Client
from support.registry import Registry

PLATFORMS = ("linux/amd64", "linux/arm64")


def run(*command, **options):
    done = subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False, **options)
    if done.returncode:
        raise AssertionError(f"{command[0]}: {done.stdout}")
    return done.stdout


def packages(folder):
    """What was built, but for the two files that list it with the place of the build."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())
            if path.suffix not in (".buildinfo", ".changes") and path.name != "log"}


class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        run(ROOT / "tests/support/deps.sh", "deb")
        cls.work = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="imgcheck-packages-")))
        cls.built = cls.work / "built"
        run(ROOT / "hooks/packaging/build-deb", cls.built)
        cls.root = cls.work / "root"
        for path in cls.built.glob("*.deb"):
            run("dpkg-deb", "-x", path, cls.root)
        machine = run("dpkg-architecture", "-qDEB_HOST_MULTIARCH").strip()
        cls.outside = outside.Outside(cls.root, f"/usr/lib/{machine}", cls.work)

    def test_another_build_elsewhere_is_the_same(self):
        tree = self.work / "another" / "tree"
        shutil.copytree(ROOT, tree, symlinks=True, ignore=shutil.ignore_patterns("build", ".git", "__pycache__"))
        again = self.work / "another" / "built"
        run(tree / "hooks/packaging/build-deb", again, env=dict(os.environ, TZ="Asia/Kathmandu"))
        first, second = packages(self.built), packages(again)
        self.assertEqual(list(first), list(second))
        self.assertEqual(sum(name.endswith(".deb") for name in first), 5)
        for name, data in first.items():
            self.assertEqual(data, second[name], name)

    def test_lintian_has_nothing_to_say(self):
        (changes,) = self.built.glob("*.changes")
        self.assertEqual(run("lintian", "--allow-root", "-E", "-I", "--pedantic", "--fail-on", "error,warning,info,pedantic", changes), "")

    def test_they_can_be_installed_here(self):
        names = [path for path in self.built.glob("*.deb") if "dbgsym" not in path.name]
        planned = run("apt-get", "-s", "install", "--no-install-recommends", *names)
        for name in ("imgcheck", "libimgcheck0", "libimgcheck-dev"):
            self.assertRegex(planned, rf"(?m)^Inst {name} ")

    def test_programs_outside_the_tree_check_an_image(self):
        with Registry(self.work / "registry") as registry:
            with Client(registry.host) as client:
                client.push("outside/app", "v1", PLATFORMS)
            for kind in ("c", "cc"):
                with self.subTest(kind):
                    program = self.outside.build(kind)
                    done = self.outside.run(program, f"{registry.host}/outside/app:v1")
                    self.assertRegex(done.stdout, r"^ok sha256:[0-9a-f]{64} 1\n$", done.stderr)
                    self.assertEqual(self.outside.run(program, f"{registry.host}/outside/app:v2").stdout, "not-found - 1\n")
            done = self.outside.run(self.root / "usr/bin/imgcheck", "check", "--image", f"{registry.host}/outside/app:v1")
            self.assertEqual((done.returncode, done.stdout), (0, "ok: 1 of 1 image can be pulled\n"), done.stderr)

    def test_the_examples_build(self):
        for example in sorted((self.root / "usr/share/doc/libimgcheck-dev/examples").glob("*.c")):
            run("gcc", "-std=c99", "-D_GNU_SOURCE", "-o", self.work / example.stem, example,
                *self.outside.pkg_config("--cflags", "--libs"))
        self.assertEqual(self.outside.run(self.work / "check").returncode, 2)

    def test_every_call_has_a_page_and_a_version(self):
        symbols = run("dpkg-deb", "--ctrl-tarfile", next(self.built.glob("libimgcheck0_*.deb")), errors="replace")
        for name in outside.functions():
            self.assertTrue((self.root / f"usr/share/man/man3/{name}.3.gz").exists(), name)
            self.assertIn(f" {name}@LIBIMGCHECK_0.1 0.1.0", symbols)


if __name__ == "__main__":
    unittest.main()
