# SPDX-License-Identifier: Apache-2.0
"""Where a real puller gets an image for the wanted platform we say ok, and where it does not we do not."""

import unittest

import gallery
import world


class Skopeo(unittest.TestCase):
    def test_skopeo_and_imgcheck_agree(self):
        host, judged = world.plain().host, [p for p in gallery.pictures() if p.copies is not None]
        self.assertGreaterEqual(len(judged), 12)
        verdicts = world.check_images(host, [p.image for p in judged]).verdicts()
        for i, picture in enumerate(judged):
            with self.subTest(picture.image):
                copied = world.skopeo_copies(host, picture.image, world.FOLDER / f"copy-{i}", "--src-tls-verify=false")
                self.assertEqual(copied, picture.copies, "skopeo")
                self.assertEqual(verdicts[f"{host}/{picture.image}"] == "ok", copied, "imgcheck")
