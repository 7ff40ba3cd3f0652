# SPDX-License-Identifier: Apache-2.0
"""An installation below a folder: programs in C and C++ that use it, its pages, and its end."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from support import ROOT, outside
from support.images import Client
from support.registry import Registry

PLATFORMS = ("linux/amd64", "linux/arm64")


def make(*arguments, tree=ROOT):
    done = subprocess.run(["make", "--no-print-directory", "-j", str(os.cpu_count()), "-C", str(tree), "VARIANT=release", *arguments],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600, check=False)
    if done.returncode:
        raise AssertionError(done.stdout)
    return done.stdout


def contents(folder):
    """What is below a folder: the bytes of files, the targets of links."""
    return {str(path.relative_to(folder)): os.readlink(path) if path.is_symlink() else path.read_bytes()
            for path in sorted(folder.rglob("*")) if not path.is_dir() or path.is_symlink()}


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.work = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="imgcheck-install-")))
        cls.root = cls.work / "root"
        make(f"DESTDIR={cls.root}", "PREFIX=/usr", "install")
        cls.outside = outside.Outside(cls.root, "/usr/lib", cls.work)
        cls.registry = cls.enterClassContext(Registry(cls.work / "registry"))
        with Client(cls.registry.host) as client:
            client.push("outside/app", "v1", PLATFORMS)

    def check_images(self, kind):
        program = self.outside.build(kind)
        done = self.outside.run(program, f"{self.registry.host}/outside/app:v1")
        self.assertRegex(done.stdout, r"^ok sha256:[0-9a-f]{64} 1\n$", done.stderr)
        done = self.outside.run(program, f"{self.registry.host}/outside/app:v2")
        self.assertEqual(done.stdout, "not-found - 1\n", done.stderr)

    def test_a_c_program_outside_the_tree_checks_an_image(self):
        self.check_images("c")

    def test_a_cxx_program_outside_the_tree_checks_an_image(self):
        self.check_images("cc")

    def test_the_command(self):
        done = self.outside.run(self.root / "usr/bin/imgcheck", "check", "--image", f"{self.registry.host}/outside/app:v1")
        self.assertEqual((done.returncode, done.stdout), (0, "ok: 1 of 1 image can be pulled\n"), done.stderr)
        dynamic = subprocess.run(["readelf", "-d", self.root / "usr/bin/imgcheck"], capture_output=True, text=True, check=True).stdout
        self.assertNotRegex(dynamic, "RPATH|RUNPATH")
        self.assertIn("[libimgcheck.so.0]", dynamic)

    def test_every_call_has_a_page(self):
        names = outside.functions()
        self.assertGreater(len(names), 60)
        for name in names:
            self.assertRegex(self.outside.page(name), rf"\b{name}\b", name)
        self.assertEqual(self.outside.page("imgcheck_no_such_call"), "")

    def test_the_description_for_pkg_config_can_be_moved(self):
        moved = self.work / "moved"
        shutil.copytree(self.root / "usr", moved, symlinks=True)
        env = dict(os.environ, PKG_CONFIG_PATH=f"{moved}/lib/pkgconfig")
        done = subprocess.run(["pkg-config", "--define-prefix", "--cflags", "--libs", "imgcheck"], env=env, capture_output=True,
                              text=True, check=True)
        words = done.stdout.split()
        self.assertEqual((words[0], words[-2:]), (f"-I{moved}/include", [f"-L{moved}/lib", "-limgcheck"]))
        self.assertNotIn(str(self.root), done.stdout)

    def test_other_folders(self):
        root = self.work / "other"
        where = (f"DESTDIR={root}", "PREFIX=/opt/imgcheck", "LIBDIR=/opt/imgcheck/lib64", "MANDIR=/opt/man")
        make(*where, "install")
        self.assertTrue((root / "opt/imgcheck/lib64/libimgcheck.so").resolve().is_file())
        self.assertTrue((root / "opt/man/man3/imgcheck_check.3").is_file())
        described = (root / "opt/imgcheck/lib64/pkgconfig/imgcheck.pc").read_text(encoding="utf-8")
        self.assertIn("prefix=/opt/imgcheck\nlibdir=${prefix}/lib64\n", described)
        make(*where, "uninstall")
        self.assertEqual(contents(root), {})

    def test_once_more_changes_nothing_and_uninstall_leaves_nothing(self):
        root = self.work / "twice"
        foreign = root / "usr/lib/foreign.so"
        make(f"DESTDIR={root}", "PREFIX=/usr", "install")
        foreign.write_text("not ours", encoding="utf-8")
        before = contents(root)
        self.assertEqual(before, {**contents(self.root), "usr/lib/foreign.so": b"not ours"})
        make(f"DESTDIR={root}", "PREFIX=/usr", "install")
        self.assertEqual(contents(root), before)
        make(f"DESTDIR={root}", "PREFIX=/usr", "uninstall")
        self.assertEqual(contents(root), {"usr/lib/foreign.so": b"not ours"})
        self.assertFalse((root / "usr/share/imgcheck").exists())

    def test_the_linker_of_this_machine_is_told_of_what_goes_there(self):
        for target in ("install", "uninstall"):
            self.assertIn("ldconfig", make("-n", target))
            self.assertNotIn("ldconfig", make("-n", f"DESTDIR={self.root}", target))

    def test_where_nothing_is_there_uninstall_says_nothing_of_it(self):
        self.assertNotRegex(make(f"DESTDIR={self.work / 'nothing'}", "uninstall"), "rmdir: |ignored")

    def test_nothing_tells_where_it_was_built(self):
        for name, data in contents(self.root).items():
            self.assertNotIn(str(ROOT).encode(), data if isinstance(data, bytes) else data.encode(), name)


class Versions(unittest.TestCase):
    def test_make_stops_where_they_differ(self):
        header, *others = ("libimgcheck/imgcheck.h", "libimgcheck/libimgcheck.map", "libimgcheck/NEWS", "hooks/packaging/debian/changelog")
        with tempfile.TemporaryDirectory(prefix="imgcheck-versions-") as folder:
            tree = pathlib.Path(folder)
            for name in ("Makefile", header, *others):
                (tree / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, tree / name)
            self.assertIn("lint", make("help", tree=tree))
            text = (tree / header).read_text(encoding="utf-8")
            self.assertRegex(text, r'IMGCHECK_VERSION "\d')
            (tree / header).write_text(re.sub(r'(IMGCHECK_VERSION "\d+\.)\d+', r"\g<1>99", text), encoding="utf-8")
            with self.assertRaisesRegex(AssertionError, "is not that of"):
                make("help", tree=tree)


class Reproducible(unittest.TestCase):
    def test_a_build_in_another_folder_is_the_same(self):
        with tempfile.TemporaryDirectory(prefix="imgcheck-again-") as folder:
            tree = pathlib.Path(folder) / "a rather different" / "name"
            shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns("build", ".git", "tests"))
            self.assertNotRegex(make(tree=tree), re.escape(str(ROOT)))
            make()
            for name in ("libimgcheck.so.0", "imgcheck", "imgcheck.bash"):
                self.assertEqual((tree / "build/release" / name).read_bytes(), (ROOT / "build/release" / name).read_bytes(), name)


if __name__ == "__main__":
    unittest.main()
