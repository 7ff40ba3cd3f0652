# SPDX-License-Identifier: Apache-2.0
"""How many requests a run makes, counted in the servers' logs."""

import collections
import functools
import json
import unittest

import world
from support import nginx
from support.images import MEDIA

COUNT = 100


@functools.lru_cache(None)
def hundred():
    """A hundred repositories, every other one an index."""
    images = []
    for i in range(COUNT):
        repository = f"hundred/addon-{i:03d}"
        world.client().push(repository, "v1.0", index=i % 2 == 0)
        images.append(f"{repository}:v1.0")
    return images


class Count(unittest.TestCase):
    def check_all(self, host, *arguments, **options):
        checked = world.check_images(host, hundred(), "--depth", "tag", *arguments, **options)
        self.assertEqual(collections.Counter(checked.verdicts().values()), {"ok": COUNT}, checked.stderr)
        self.assertEqual(checked.status, 0)

    def test_one_request_an_image_without_logins(self):
        hundred()
        before = len(world.plain().requests())
        self.check_all(world.plain().host)
        asked = world.plain().requests()[before:]
        self.assertEqual(len(asked), COUNT)
        self.assertEqual(len({request.path for request in asked}), COUNT)

    def test_one_connection_on_http2(self):
        hundred()
        before = len(world.tls().requests())
        self.check_all(world.tls().host, "--cacert", world.authority().crt, plain_http=False)
        asked = world.tls().requests()[before:]
        self.assertEqual(len(asked), COUNT)
        self.assertEqual({request.protocol for request in asked}, {"HTTP/2.0"})
        self.assertEqual(len({request.connection for request in asked}), 1)

    def test_a_challenge_and_a_token_for_each_repository(self):
        hundred()
        front = world.start_token_world("counted").front
        self.check_all(front.host, "--cacert", world.authority().crt, plain_http=False)
        asked = front.requests()
        self.assertEqual(collections.Counter((request.path.startswith("/token"), request.status) for request in asked),
                         {(False, 401): 1, (True, 200): COUNT, (False, 200): COUNT})
        self.assertEqual(len(asked), 2 * COUNT + 1)
        self.assertEqual({request.protocol for request in asked}, {"HTTP/2.0"})
        self.assertEqual(len({request.connection for request in asked}), 1)

    def test_a_server_that_ends_connections_costs_a_connection_each_time(self):
        hundred()
        front = world.start_token_world("impatient", keepalive_requests=50).front
        self.check_all(front.host, "--cacert", world.authority().crt, plain_http=False)
        connections = collections.Counter(request.connection for request in front.requests())
        self.assertLessEqual(max(connections.values()), 50)
        self.assertLessEqual(len(connections), 2 * -(-(2 * COUNT + 1) // 50))

    def test_servers_that_admit_a_few_requests_at_a_time_get_a_few(self):
        hundred()
        fronts = [world.keep(nginx.Front(world.FOLDER / f"few-{i}", world.plain().host, world.server_pair(), http2=http2,
                                         at_once=(4, status)))
                  for i, (http2, status) in enumerate(((True, 503), (True, 444), (False, 503), (False, 444)))]
        fronts.append(world.start_token_world("few-tokens", at_once=(4, 503)).front)
        for front in fronts:
            with self.subTest(front.folder.name):
                self.check_all(front.host, "--cacert", world.authority().crt, plain_http=False)
                refused = sum(request.status in (503, 444) for request in front.requests())
                self.assertGreater(refused, 0)
                self.assertLess(refused, 3 * COUNT)

    def test_an_image_named_twice_is_asked_for_once(self):
        world.client().push("twice/image", "v1")
        before = len(world.plain().requests())
        world.check_images(world.plain().host, ["twice/image:v1"] * 3, "--depth", "tag")
        self.assertEqual(len(world.plain().requests()) - before, 1)

    def test_more_images_than_are_begun_at_once_share_what_they_have_in_common(self):
        tags, client = 600, world.client()
        image = client.push("many/tags", "v0")
        document = json.loads(client.request("GET", f"/v2/many/tags/manifests/{image.digest}",
                                             headers={"Accept": MEDIA["oci"]["manifest"]})[1])
        for i in range(1, tags):
            client.put_manifest("many/tags", f"v{i}", MEDIA["oci"]["manifest"], document)
        before = len(world.plain().requests())
        checked = world.check_images(world.plain().host, [f"many/tags:v{i}" for i in range(tags)])
        self.assertEqual(collections.Counter(checked.verdicts().values()), {"ok": tags}, checked.stderr)
        asked = world.plain().requests()[before:]
        self.assertEqual(len(asked), tags + len(("manifest", "config", "layer")))
        self.assertEqual(len({request.path for request in asked}), len(asked))
