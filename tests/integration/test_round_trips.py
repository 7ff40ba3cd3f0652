# SPDX-License-Identifier: Apache-2.0
"""How many round trips a run takes, counted at a registry that answers in waves: the same on any machine.

On top of these come two for the connection: TCP, and TLS 1.3.
"""

import collections
import contextlib
import unittest

import test_requests
import world
from support import nginx
from support.waves import Waves

COUNT = test_requests.COUNT


@contextlib.contextmanager
def asked_in_waves(http2=True):
    """(host, its waves): tokens, TLS."""
    with nginx.bind() as listener:
        host = f"127.0.0.1:{listener.getsockname()[1]}"
        with Waves(world.plain().host, realm=f"https://{host}/token") as waves:
            folder = world.FOLDER / waves.host.replace(":", "-")
            with nginx.Front(folder, waves.host, world.server_pair(), http2=http2, listener=listener) as front:
                yield front, waves


class RoundTrips(unittest.TestCase):
    def check(self, front, images, depth):
        checked = world.check_images(front.host, images, "--depth", depth, "--cacert", world.authority().crt,
                                     plain_http=False, timeout=120)
        self.assertEqual(collections.Counter(checked.verdicts().values()), {"ok": len(images)}, checked.stderr)

    def assert_asked_once(self, waves):
        """No request twice, but for the first one, which learned the challenge."""
        repeated = collections.Counter(waves.requests()) - collections.Counter(set(waves.requests()))
        self.assertEqual(dict(repeated), {waves.requests()[0]: 1})

    def assert_one_connection(self, front):
        self.assertEqual(len({request.connection for request in front.requests()}), 1)
        self.assertEqual({request.tls for request in front.requests()}, {"TLSv1.3"})

    def test_a_hundred_images_in_three_round_trips(self):
        with asked_in_waves() as (front, waves):
            self.check(front, test_requests.hundred(), "tag")
            self.assertEqual([len(wave) for wave in waves.waves], [1, COUNT, COUNT])
            self.assert_asked_once(waves)
            self.assert_one_connection(front)

    def test_two_hundred_in_five(self):
        images = list(test_requests.hundred())
        for i in range(COUNT):
            world.client().push(f"hundred/more-{i:03d}", "v1.0")
            images.append(f"hundred/more-{i:03d}:v1.0")
        with asked_in_waves() as (front, waves):
            self.check(front, images, "tag")
            self.assertEqual(len(waves.waves), 5, [len(wave) for wave in waves.waves])
            self.assertEqual(len(waves.requests()), 2 * len(images) + 1)
            self.assert_asked_once(waves)
            self.assert_one_connection(front)

    def test_down_to_the_blobs_in_six(self):
        """Challenge, token, HEAD, index, manifest, config and layers: with no more than a hundred blobs in all."""
        images = test_requests.hundred()[::5]
        with asked_in_waves() as (front, waves):
            self.check(front, images, "blobs")
            self.assertEqual(len(waves.waves), 6, [len(wave) for wave in waves.waves])
            self.assert_asked_once(waves)
            self.assert_one_connection(front)

    def test_several_registries_take_as_many_as_one(self):
        """Three registries, which are one behind three names: their requests come in the same waves."""
        images = test_requests.hundred()[:20]
        with contextlib.ExitStack() as stack:
            waves = stack.enter_context(Waves(world.plain().host))
            fronts = [stack.enter_context(nginx.Front(world.FOLDER / f"several-{i}", waves.host, world.server_pair()))
                      for i in range(3)]
            arguments = [argument for front in fronts[1:] for image in images for argument in ("--image", f"{front.host}/{image}")]
            checked = world.check_images(fronts[0].host, images, *arguments, "--depth", "tag", "--cacert", world.authority().crt,
                                         plain_http=False, timeout=120)
            self.assertEqual(collections.Counter(checked.verdicts().values()), {"ok": 3 * len(images)}, checked.stderr)
            self.assertEqual([len(wave) for wave in waves.waves], [3, 3 * (len(images) - 1)])
            for front in fronts:
                self.assert_one_connection(front)

    def test_as_many_at_once_as_nginx_admits(self):
        """128 streams; behind the manifests of a hundred images 150 requests wait."""
        with asked_in_waves() as (front, waves):
            self.check(front, test_requests.hundred(), "blobs")
            sizes = [len(wave) for wave in waves.waves]
            self.assertEqual(sizes[:4], [1, COUNT, COUNT, COUNT])
            self.assertTrue(COUNT < max(sizes) <= 128, sizes)
            self.assertLessEqual(len(sizes), 7, sizes)
            self.assert_asked_once(waves)
            self.assert_one_connection(front)

    def test_sixteen_at_once_on_http1(self):
        images = test_requests.hundred()[:32]
        with asked_in_waves(http2=False) as (front, waves):
            self.check(front, images, "tag")
            self.assertEqual([len(wave) for wave in waves.waves], [1, 16, 16, 16, 16])
            self.assert_asked_once(waves)
            self.assertLessEqual(len({request.connection for request in front.requests()}), 16)
