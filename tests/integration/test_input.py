# SPDX-License-Identifier: Apache-2.0
"""Manifests that cannot be read or evaluated: the place is named, and what could be read still counts."""

import json
import pathlib
import shutil
import tempfile
import unittest

import world
from support import snaptree

EXIT_MISSING, EXIT_UNREADABLE = 1, 5

GOOD = """apiVersion: v1
kind: Pod
metadata: {name: good}
spec: {containers: [{name: a, image: HOST/input/good:v1}]}
"""

# name of the file, its text after a good document, the line of the problem, a word of its message
ROWS = (
    ("broken.yaml", "---\nkind: Pod\n  spec: [\n", 7, "cannot"),
    ("unclosed.yaml", "---\na: 'b\n", None, "cannot"),
    ("macro.yaml", "---\n{% macro name() %}x{% endmacro %}\n", 6, "macro"),
    ("filter.yaml", "---\na: {{ registry|tojson }}\n", 6, "tojson"),
    ("unended.yaml", "---\n{% if registry %}\na: b\n", None, "if"),
)


class Manifests(unittest.TestCase):
    def setUp(self):
        world.client().push("input/good", "v1")
        folder = tempfile.TemporaryDirectory(dir=world.FOLDER)
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text.replace("HOST", world.plain().host), encoding="utf-8")
        return path

    def check(self, *arguments):
        return world.check("--plain-http", world.plain().host, *arguments)

    def assert_unreadable(self, checked, path, line, word):
        self.assertEqual(checked.status, EXIT_UNREADABLE, checked.stderr)
        (problem,) = checked.report["problems"]
        self.assertEqual((problem["class"], problem["file"]), ("unreadable", str(path)))
        self.assertIn(word, problem["message"])
        if line:
            self.assertEqual(problem["line"], line, problem)

    def test_the_place_is_named_and_the_rest_is_checked(self):
        for name, bad, line, word in ROWS:
            with self.subTest(name):
                path = self.write(name, bad)
                good = self.write("good.yaml", GOOD)
                # The good document stands before, in a file of its own for templates, which are read as a whole.
                before = 0 if "{" in bad else GOOD.count("\n")
                if before:
                    path = self.write(name, GOOD + bad)
                checked = self.check("--registry", world.plain().host, path, good)
                self.assert_unreadable(checked, path, line and line - GOOD.count("\n") + before, word)
                self.assertEqual(checked.verdicts(), {f"{world.plain().host}/input/good:v1": "ok"})

    def test_a_file_that_is_not_there(self):
        path = self.folder / "nowhere.yaml"
        self.assert_unreadable(self.check(path, self.write("good.yaml", GOOD)), path, None, "cannot")

    def test_a_missing_image_is_told_beside_an_unreadable_file(self):
        bad = self.write("bad.yaml", "a: [\n")
        absent = self.write("absent.yaml", GOOD.replace("good:v1", "absent:v1"))
        checked = self.check(bad, absent)
        self.assertEqual(checked.status, EXIT_UNREADABLE)
        self.assertEqual(list(checked.verdicts().values()), ["not-found"])
        self.assertEqual(self.check(bad, absent, "--warn", "unreadable").status, EXIT_MISSING)


class Target(unittest.TestCase):
    """The example snap with something wrong in its imgcheck.yaml: never ok."""

    ROWS = (
        ("a path that matches nothing", "paths: [templates]", "paths: [templates, manifests]", "manifests"),
        ("a glob that matches nothing", "'nvidia-*.yaml'", "'amd-*.yaml'", "amd-*.yaml"),
        ("an unknown key", "values:", "vales:", "vales"),
        ("an unknown version", "version: 1", "version: 7", "7"),
        ("a rule that cannot be evaluated", "if: \"config['enable-gpu'] == 'true'\"", "if: \"config['enable-gpu'] ==\"", ""),
        ("broken YAML", "when:", "when: [", ""),
    )
    CONFIG = json.dumps({"kubeconfig": "/root/kubeconfig", "registry": "127.0.0.1:1", "arch": "amd64", "enable-gpu": True,
                         "dns-provider": "core-dns"})

    def setUp(self):
        folder = tempfile.TemporaryDirectory(dir=world.FOLDER)
        self.addCleanup(folder.cleanup)
        self.target = pathlib.Path(folder.name) / "target"
        snaptree.assemble(self.target, snaptree.OLD, world.built("imgcheck"))
        self.config = pathlib.Path(folder.name) / "config.json"
        self.config.write_text(self.CONFIG, encoding="utf-8")
        self.description = self.target / "meta" / "imgcheck.yaml"

    def images(self):
        return world.imgcheck("images", "--target", self.target, "--snap-config", self.config)

    def test_it_is_read_as_it_is(self):
        done = self.images()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(done.stdout.split()), 5)

    def test_it_fails_closed(self):
        text = self.description.read_text(encoding="utf-8")
        for name, old, new, word in self.ROWS:
            with self.subTest(name):
                self.assertIn(old, text)
                self.description.write_text(text.replace(old, new), encoding="utf-8")
                done = self.images()
                self.assertEqual(done.returncode, EXIT_UNREADABLE, done.stdout)
                self.assertIn("imgcheck.yaml", done.stderr)
                self.assertIn(word, done.stderr)

    def test_no_image_at_all_is_not_ok(self):
        shutil.rmtree(self.target / "templates")
        (self.target / "templates").mkdir()
        text = self.description.read_text(encoding="utf-8")
        start, end = text.index("when:"), text.index("values:")
        self.description.write_text(text[:start] + text[end:], encoding="utf-8")
        self.assertEqual(self.images().returncode, EXIT_UNREADABLE)
