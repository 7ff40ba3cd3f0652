# SPDX-License-Identifier: Apache-2.0
"""cdk-addons of two releases through the command: the images and templates that its own apply step would use."""

import json
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from support import ROOT, built

CORPUS = ROOT.parent / "shared" / "corpus"
DESCRIPTION = ROOT / "tests" / "data" / "target" / "cdk-addons" / "imgcheck.yaml"
RELEASES = ("cdk-addons-v1.28.2", "cdk-addons-v1.28.3")


def as_snapd_stores(config):
    """`snap set x=true` makes a Boolean."""
    return {key: True if value == "true" else value for key, value in config.items()}


@unittest.skipUnless(CORPUS.is_dir(), "../shared/corpus is not there")
class Corpus(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="imgcheck-corpus-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def unpack(self, release):
        """The release as an unpacked snap with our description."""
        snap = self.folder / release
        (snap / "meta").mkdir(parents=True)
        shutil.copy(DESCRIPTION, snap / "meta")
        shutil.copytree(CORPUS / release / "templates", snap / "templates")
        return snap

    def imgcheck(self, *arguments):
        done = subprocess.run([built("imgcheck"), *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=60, check=False)
        self.assertEqual((done.returncode, done.stderr.decode()), (0, ""), arguments)
        return done.stdout

    def test_images_by_configuration(self):
        for release in RELEASES:
            snap, expected = self.unpack(release), CORPUS / release / "expected"
            configs = sorted(expected.glob("snapconfig.*.json"))
            self.assertEqual(len(configs), 8)
            for path in configs:
                config = json.loads(path.read_text(encoding="utf-8"))
                images = (expected / f"images.{path.name.split('.')[1]}.txt").read_bytes()
                for stored in (config, as_snapd_stores(config)):
                    with self.subTest(release=release, config=path.name):
                        stored_path = self.folder / "config.json"
                        stored_path.write_text(json.dumps(stored), encoding="utf-8")
                        self.assertEqual(self.imgcheck("images", "--target", snap, "--snap-config", stored_path), images)

    def test_templates_rendered(self):
        templates = CORPUS / RELEASES[1] / "templates"
        contexts = sorted((CORPUS / RELEASES[1] / "expected" / "raw").glob("amd64-*/*.ctx.json"))
        self.assertGreater(len(contexts), 50)
        for path in contexts:
            with self.subTest(path.parent.name + "/" + path.name):
                expected = path.with_name(path.name.removesuffix(".ctx.json") + ".out")
                # One that is rendered several times has a number behind its name.
                name = re.sub(r"\.\d+$", "", expected.stem)
                printed = self.imgcheck("render", "--values", path, templates / name)
                self.assertEqual(printed, expected.read_bytes())
