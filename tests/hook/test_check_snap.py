# SPDX-License-Identifier: Apache-2.0
"""snap/local/check-snap.sh on the example snap, and on the ways in which a veto is lost in silence."""

import ctypes.util
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import yaml

from support import ROOT, built
from support.snaptree import NEW, assemble, libraries

SCRIPT = ROOT / "snap" / "local" / "check-snap.sh"
# Where the library is installed on this machine, the hook runs with that one.
WITHOUT_LIBRARY = "does not find libimgcheck in the snap" if ctypes.util.find_library("imgcheck") else "does not run with what meta/snap.yaml"


class CheckSnap(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="imgcheck-snap-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name) / "snap"
        assemble(self.folder, NEW, built("imgcheck"))
        for path in libraries(built("imgcheck"))[1]:
            shutil.copy(path, self.folder / "usr" / "lib" / path.name)
        self.hook = self.folder / "meta" / "hooks" / "pre-refresh"
        self.description = self.folder / "meta" / "snap.yaml"

    def check(self, expected, word, snap=None, config=()):
        done = subprocess.run([SCRIPT, snap or self.folder, *config], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, expected, done.stdout + done.stderr)
        self.assertIn(word, done.stdout + done.stderr)

    def test_the_example(self):
        self.check(0, "imgcheck 0.")

    def test_the_example_is_what_snapcraft_would_make(self):
        ours = yaml.safe_load(self.description.read_text(encoding="utf-8"))
        project = yaml.safe_load((ROOT / "snap" / "snapcraft.yaml").read_text(encoding="utf-8"))
        for key in ("name", "version", "summary", "description", "base", "confinement", "grade", "apps"):
            self.assertEqual(ours[key], project[key])
        self.assertEqual({name: hook for name, hook in ours["hooks"].items() if hook}, project["hooks"])

    @unittest.skipUnless(shutil.which("mksquashfs") and shutil.which("unsquashfs"), "no squashfs-tools")
    def test_a_file(self):
        path = self.folder.parent / "a.snap"
        subprocess.run(["mksquashfs", self.folder, path, "-noI", "-noD", "-noF", "-quiet", "-no-progress"], check=True, capture_output=True)
        self.check(0, "imgcheck 0.", path)
        path.write_bytes(b"no snap")
        self.check(2, "cannot unpack", path)

    def test_a_stub(self):
        for name in ("post-refresh", "pre-refresh"):
            (self.folder / "meta" / "hooks" / name).write_text("#!/bin/true\n", encoding="utf-8")
            self.check(1, f"meta/hooks/{name} is a script that does not call imgcheck")

    def test_a_script_of_the_snap_that_calls_it(self):
        call = '"$SNAP/bin/imgcheck" hook pre-refresh'
        for line, expected in ((f"exec {call}", 0), (f'{call} "$@"', 0), (f"{call} || exit 1", 0), (f"{call} || exit 0", 1),
                               (f"{call} || true", 1), (f"{call}; exit 0", 1)):
            with self.subTest(line):
                self.hook.write_text(f"#!/bin/sh\n{line}\n", encoding="utf-8")
                self.check(expected, "does not call imgcheck" if expected else "imgcheck 0.")
        self.hook.write_text(f"#!/bin/sh\n{call}\n", encoding="utf-8")
        (self.folder / "bin" / "imgcheck").unlink()
        self.check(1, "bin/imgcheck is missing")

    def test_a_missing_hook(self):
        for name in ("post-refresh", "pre-refresh"):
            (self.folder / "meta" / "hooks" / name).unlink()
            self.check(1, f"meta/hooks/{name} is missing")

    def test_a_hook_that_cannot_run(self):
        self.hook.chmod(0o644)
        self.check(1, "meta/hooks/pre-refresh is not executable")

    def test_a_missing_library(self):
        for name, words in (("libcurl", "pre-refresh does not find libcurl in the snap"), ("libimgcheck", WITHOUT_LIBRARY)):
            with self.subTest(name):
                for path in (self.folder / "usr" / "lib").glob(f"{name}*"):
                    path.unlink()
                self.check(1, words)

    def test_libraries_where_the_hook_does_not_look(self):
        text = self.description.read_text(encoding="utf-8")
        for path, expected in (("$SNAP/usr/lib", 0), ("'${SNAP}/usr/lib:${LD_LIBRARY_PATH}'", 0), ("$SNAP_LIBRARY_PATH:$SNAP/lib:$SNAP/usr/lib", 0),
                               ("$SNAP/lib", 1), ("$SNAP_DATA/usr/lib", 1)):
            with self.subTest(path):
                self.description.write_text(text.replace("LD_LIBRARY_PATH: $SNAP/usr/lib", f"LD_LIBRARY_PATH: {path}"), encoding="utf-8")
                self.check(expected, WITHOUT_LIBRARY if expected else "imgcheck 0.")

    def test_another_program(self):
        shutil.copy(os.path.realpath("/bin/true"), self.hook)
        self.check(1, "is not imgcheck")

    def test_a_missing_plug(self):
        path = self.description
        text = path.read_text(encoding="utf-8")
        before, after = text.split("  pre-refresh:\n    plugs: [network]\n")
        for plugs, expected in (("  pre-refresh: {}\n", 1), ("", 1), ("  pre-refresh:\n    plugs: [home]\n", 1),
                                ("  pre-refresh:\n    plugs:\n    - network\n", 0), ("  pre-refresh: {plugs: [network]}\n", 0)):
            with self.subTest(plugs):
                path.write_text(before + plugs + after, encoding="utf-8")
                self.check(expected, "the hook pre-refresh has no plug network" if expected else "imgcheck 0.")
        path.write_text(text.replace("  post-refresh:\n    plugs: [network]\n", ""), encoding="utf-8")
        self.check(1, "the hook post-refresh has no plug network")

    def test_a_missing_description(self):
        (self.folder / "meta" / "imgcheck.yaml").unlink()
        self.check(1, "meta/imgcheck.yaml is missing")

    def test_a_broken_description(self):
        path = self.folder / "meta" / "imgcheck.yaml"
        path.write_text(path.read_text(encoding="utf-8") + "paths2: [x]\n", encoding="utf-8")
        self.check(1, "there is no such key in a description")

    def test_what_a_unit_that_is_set_up_needs(self):
        config = self.folder.parent / "config.json"
        config.write_text('{"kubeconfig": "x", "registry": "r.example", "enable-gpu": true}', encoding="utf-8")
        self.check(0, "imgcheck 0.", config=(config,))
        (self.folder / "templates" / "nvidia-device-plugin.yaml").write_text("image: {{ a|never }}\n", encoding="utf-8")
        self.check(1, "templates/nvidia-device-plugin.yaml", config=(config,))
        self.check(0, "imgcheck 0.")

    def test_no_snap(self):
        self.description.unlink()
        self.check(1, "meta/snap.yaml is missing: not a snap")
