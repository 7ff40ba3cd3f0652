# SPDX-License-Identifier: Apache-2.0
"""check --new-since: only what a release adds is asked for, with the statuses of a check."""

import pathlib
import tempfile
import unittest

import gallery
import world

POD = "kind: Pod\nspec: {{containers: [{}]}}\n"


class NewSince(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="imgcheck-new-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        gallery.pictures()
        self.host = world.plain().host

    def release(self, name, *images):
        path = self.folder / f"{name}.yaml"
        path.write_text(POD.format(", ".join(f"{{image: '{{{{ registry }}}}/{image}'}}" for image in images)), encoding="utf-8")
        return path

    def check(self, old, new, *arguments):
        return world.check("--plain-http", self.host, "--registry", self.host, "--new-since", old, *arguments, new)

    def test_what_was_missing_before_is_not_asked_for(self):
        old = self.release("old", "good/oci:v1", "nowhere/at-all:v1")
        new = self.release("new", "good/oci:v1", "nowhere/at-all:v1", "good/docker:v1")
        before = len(world.plain().requests())
        done = self.check(old, new)
        self.assertEqual((done.status, done.verdicts()), (0, {f"{self.host}/good/docker:v1": "ok"}))
        paths = {request.path for request in world.plain().requests()[before:]}
        self.assertTrue(paths and all("/good/docker/" in path for path in paths), paths)

    def test_statuses(self):
        old = self.release("old", "good/oci:v1")
        for image, status in (("good/oci:v1", 0), ("nowhere/at-all:v1", 1), ("good/docker:v1", 0)):
            with self.subTest(image):
                self.assertEqual(self.check(old, self.release("new", image)).status, status)
        bad = self.folder / "bad.yaml"
        bad.write_text("a: [\n", encoding="utf-8")
        self.assertEqual(self.check(old, bad).status, 5)
        # An old release that cannot be read takes nothing away.
        done = self.check(bad, self.release("new", "nowhere/at-all:v1"))
        self.assertEqual(done.status, 1)
        self.assertIn(str(bad), done.stderr)

    def test_the_old_release_as_a_list(self):
        old = self.folder / "images.txt"
        old.write_text(f"v1: {self.host}/nowhere/at-all:v1\n", encoding="utf-8")
        new = self.release("new", "good/oci:v1", "nowhere/at-all:v1")
        self.assertEqual(self.check(f"{old}#v1", new).verdicts(), {f"{self.host}/good/oci:v1": "ok"})
