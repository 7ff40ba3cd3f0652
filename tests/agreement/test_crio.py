# SPDX-License-Identifier: Apache-2.0
"""The same images by the rules of CRI-O, judged by skopeo, which pulls with the same library."""

import concurrent.futures
import re
import socket
import unittest

import judges
import rows_access
import rows_images
import rows_servers

WORKERS = 6  # most of them wait
# Why skopeo comes to another end than we do.
UNPACKED = "skopeo copies without unpacking: what only an unpacked image fails at is not seen"
UNCHECKED = "the platform of a single manifest is checked by nobody, and would not run"
TOO_SHORT = "only a whole layer tells a wrong size in its manifest from a broken layer; we take it for broken"
REASONS = {
    "a manifest for arm64 alone": UNCHECKED,
    "docker-registry: absent/platform-single:v1": UNCHECKED,
    "a layer with another size than said": TOO_SHORT,
    "a layer that the config does not know": UNPACKED,
    "no layer, but the config knows one": UNPACKED,
    "a manifest without config": UNPACKED,
    "an artifact": UNPACKED,
    "a config that is no JSON": UNPACKED,
    "a layer of other bytes": rows_images.UNREAD,
    "110,000 annotations": rows_images.OUR_LIMIT,
    "a manifest that is not UTF-8": rows_images.OUR_LIMIT,
    "a digest of sha512": "skopeo 1.9 computes sha256 alone",
}
TAG_AND_DIGEST = "skopeo takes no tag with a digest; CRI-O drops the tag before it pulls"


def reason_of(row):
    """Why we differ, or nothing."""
    if re.search(r":[^/]+@[^@]+$", row.name):
        return TAG_AND_DIGEST
    if row.skopeo in (rows_images.OUR_LIMIT, rows_images.UNREAD):
        return row.skopeo
    return REASONS.get(row.name, "")


def judge(row):
    """(row, our verdict and reason, "" or what went wrong for skopeo)"""
    with row.place() as place:
        verdict, reason = judges.imgcheck(place, row.depth, "--runtime", "crio")
    with row.place() as place:
        return row, verdict, reason, judges.skopeo(place)


def is_named():
    """Whether programs find registry.localhost: root gives it an address, elsewhere the machine's resolver may."""
    try:
        return bool(socket.getaddrinfo("registry.localhost", 443, socket.AF_INET))
    except OSError:
        return False


@unittest.skipUnless(is_named(), "registry.localhost has no address here, which root could give it")
class Crio(unittest.TestCase):
    def test_skopeo_agrees_with_the_rules_of_crio(self):
        rows = [row for module in (rows_images, rows_servers, rows_access) for row in module.rows()]
        agreed = 0
        with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
            for row, verdict, reason, failure in pool.map(judge, rows):
                agrees = (verdict == "ok") == (failure == "")
                agreed += agrees
                with self.subTest(row.name):
                    why = reason_of(row)
                    self.assertEqual(agrees, not why, f"we say {verdict} ({reason}), skopeo: {failure or 'pulled'}; {why}")
        print(f"{len(rows)} images, skopeo agrees with {agreed}, {len(rows) - agreed} differ for the reasons given")
        self.assertGreaterEqual(agreed, 60)
        self.assertLessEqual(set(REASONS), {row.name for row in rows})
