# SPDX-License-Identifier: Apache-2.0
"""Hooks of many machines at one instant: all come through, and the registry is asked no more than is stated."""

import tempfile
import unittest

from fleets import Fleet

MACHINES, IMAGES, EACH_SECOND = 12, 20, 80
CONNECTIONS = 16


class AtOnce(unittest.TestCase):
    def test_all_come_through_and_within_a_quarter_of_an_hour_ask_nothing(self):
        with tempfile.TemporaryDirectory(prefix="imgcheck-fleet-") as folder, \
             Fleet(folder, MACHINES, IMAGES, EACH_SECOND) as fleet:
            first = fleet.refresh()
            self.assertEqual(first.statuses, {0}, first.outputs)
            self.assertEqual(first.admitted, MACHINES * IMAGES, "an image is asked for until it is answered, and then no more")
            self.assertGreater(first.refused, 0)
            self.assertLessEqual(first.refused, MACHINES * (CONNECTIONS + IMAGES))
            again = fleet.refresh()
            self.assertEqual(again.statuses, {0}, again.outputs)
            self.assertEqual((again.admitted, again.refused), (0, 0))
