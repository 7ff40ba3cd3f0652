# SPDX-License-Identifier: Apache-2.0
"""Good and broken images, each judged by imgcheck, containerd and skopeo: one table, and no unexplained row in it."""

import concurrent.futures
import os
import unittest

import judges
import rows_access
import rows_images
import rows_servers
import world

MISSING = ("not-found", "no-platform", "incomplete", "corrupt", "invalid")
WORKERS = 6  # most of them wait


def judge(row):
    """(row, our verdict, our reason, {puller: "" or what went wrong})"""
    with row.place() as place:
        verdict, reason = judges.imgcheck(place, row.depth)
    said = {}
    for puller in ("ctr", "skopeo"):
        with row.place() as place:
            said[puller] = getattr(judges, puller)(place)
    return row, verdict, reason, said


def faults(row, verdict, said):
    """What is wrong with the row."""
    if verdict not in row.verdict.split():
        yield f"we say {verdict}, not {row.verdict}"
    for puller, failure in said.items():
        differs = (verdict == "ok") != (failure == "")
        if differs and not getattr(row, puller):
            yield f"we say {verdict}, {puller}: {failure or 'pulled'}"
        if not differs and getattr(row, puller):
            yield f"{puller} comes to the same end, though the row has a reason why not: {getattr(row, puller)}"


def print_row(row, verdict, said):
    words = {puller: "pulled" if failure == "" else "failed" for puller, failure in said.items()}
    print(f"{row.name:56} {verdict:14} {words['ctr']:7} {words['skopeo']:7}", end="")
    print("".join(f" {puller}: {getattr(row, puller)}" for puller in said if getattr(row, puller)))


@unittest.skipUnless(os.geteuid() == 0, "containerd needs root")
class Agreement(unittest.TestCase):
    def test_containerd_and_skopeo_agree(self):
        print(f"\ncontainerd {world.containerd().version()}\n{'image':56} imgcheck       ctr     skopeo  why they differ")
        rows = [row for module in (rows_images, rows_servers, rows_access) for row in module.rows()]
        agreed = 0
        with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
            for row, verdict, reason, said in pool.map(judge, rows):
                print_row(row, verdict, said)
                agreed += (verdict == "ok") == (said["ctr"] == "")
                with self.subTest(row.name):
                    self.assertEqual(list(faults(row, verdict, said)), [], (reason, said))
                    self.assertFalse(verdict in MISSING and said["ctr"] == "" and not row.ctr)
        print(f"{len(rows)} images, containerd agrees with {agreed}, {len(rows) - agreed} differ for the reasons given")
        self.assertGreaterEqual(len(rows), 60)
        self.assertEqual(len({row.name for row in rows}), len(rows))
