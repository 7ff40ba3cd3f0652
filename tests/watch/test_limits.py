# SPDX-License-Identifier: Apache-2.0
"""What a round costs a registry, and what a registry's limits do to a round."""

import collections
import json
import subprocess

from support.badserver import response
from support.images import MEDIA
from world import Case

DIGEST = "sha256:" + 64 * "a"


def found(**more):
    """The answer to a HEAD of an image that is there."""
    return response(200, Docker_Content_Digest=DIGEST, Content_Type=MEDIA["oci"]["index"], **more).replace(
        b"Content-Length: 0", b"Content-Length: 512")


class Limits(Case):
    IMAGES = 1000

    def push_tags(self, count):
        """So many tags of one repository; the manifests that move() points them at."""
        digests = [self.client.push("many", name).digest for name in ("one", "two")]
        for i in range(count):
            self.point(f"t{i}", digests[0])
        return digests

    def point(self, tag, digest):
        """As the registry keeps a tag; a thousand requests would take longer than all the rest."""
        folder = self.registry.storage / "docker/registry/v2/repositories/many/_manifests/tags" / tag / "current"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "link").write_text(digest, encoding="utf-8")

    def asked(self, registry):
        """What watches have asked of the registry since the last time."""
        requests = [(r.method, r.path) for r in registry.requests() if r.agent.startswith("imgcheck/")]
        fresh = requests[getattr(self, "_seen", 0):]
        self._seen = len(requests)
        return fresh

    def test_a_round_of_a_thousand_images_is_a_thousand_heads(self):
        self.start_registry()
        _, other = self.push_tags(self.IMAGES)
        self.write_config(*(f"many:t{i}" for i in range(self.IMAGES)), host=self.registry.host)
        self.assertEqual(self.round(), [])
        expected = collections.Counter(("HEAD", f"/v2/many/manifests/t{i}") for i in range(self.IMAGES))
        self.assertEqual(collections.Counter(self.asked(self.registry)), expected)
        for i in range(0, self.IMAGES, 20):
            self.point(f"t{i}", other)
        self.assertEqual(sorted(self.round()), sorted(("changed", f"many:t{i}") for i in range(0, self.IMAGES, 20)))
        self.assertEqual(collections.Counter(self.asked(self.registry)), expected)
        self.assertEqual(self.round(), [])

    def test_four_shards_ask_for_each_image_once(self):
        self.start_registry()
        self.push_tags(40)
        self.write_config(*(f"many:t{i}" for i in range(40)), host=self.registry.host)
        runs = [subprocess.Popen(self.command("--once", "--shard", f"{i}/4", "--state", self.folder / f"state{i}")) for i in range(4)]
        self.assertEqual([run.wait(30) for run in runs], [0, 0, 0, 0])
        self.assertEqual(collections.Counter(self.asked(self.registry)),
                         collections.Counter(("HEAD", f"/v2/many/manifests/t{i}") for i in range(40)))
        parts = [len(json.loads((self.folder / f"state{i}").read_text())["images"]) for i in range(4)]
        self.assertEqual(sum(parts), 40)
        self.assertGreater(min(parts), 2)
        done = self.run_watch("--shard", "1/4", "--state", self.folder / "state0", status=2)
        self.assertIn("is of shard 0/4, not 1/4", done.stderr)

    def test_a_host_that_wants_to_be_left_alone_is(self):
        front = self.start_front()
        front.answer = response(429, b"slow down", Retry_After="3600")
        self.write_config(*(f"r{i}:1" for i in range(300)), host=front.host)
        self.assertEqual(self.round(), [])
        self.assertLessEqual(len(front.requests), 16)
        before = len(front.requests)
        front.answer = found()
        self.assertEqual(self.round(), [])
        self.assertEqual(len(front.requests), before, "an hour is not over")
        image = self.read_state()["images"][0]
        self.assertEqual(image["misses"], 2)
        self.assertIn("not asked for before", image["reason"])
        document = self.read_state()
        document["hosts"][0]["until"] -= 3600
        self.state.write_text(json.dumps(document), encoding="utf-8")
        self.assertEqual(self.round(), [])
        self.assertEqual(len(front.requests), before + 300)

    def test_what_a_host_still_allows_is_left_to_others_and_all_get_their_turn(self):
        front = self.start_front()
        left = [0]

        def answer(_request):
            left[0] -= 1
            return found(RateLimit_Remaining=f"{left[0]};w=60")
        front.answer = answer
        self.write_config(*(f"r{i}:1" for i in range(100)), more="reserve: 10\n", host=front.host)
        counts = []
        for _ in range(4):
            left[0], before = 60, len(front.requests)
            self.assertEqual(self.round(), [])
            counts.append(len(front.requests) - before)
            self.assertLessEqual(counts[-1], 50 + 16, "those under way")
        asked = {request.split(" ")[1] for request in front.requests}
        self.assertEqual(len(asked), 100, counts)
        self.assertGreaterEqual(min(counts), 49)

    def test_requests_that_do_not_count_go_on(self):
        """As HEAD on Docker Hub, which is answered at a remainder of 0 too."""
        front = self.start_front()
        front.answer = found(RateLimit_Remaining="0;w=21600")
        self.write_config(*(f"r{i}:1" for i in range(50)), host=front.host)
        self.assertEqual(self.round(), [])
        self.assertEqual(len(front.requests), 50)
        self.assertEqual({image["condition"] for image in self.read_state()["images"]}, {"present"})

    def test_another_host_goes_on_beside_one_that_is_limited(self):
        limited, good = self.start_front(), self.start_front()
        limited.answer, good.answer = response(429, Retry_After="60"), found()
        self.config.write_text(
            f"plain-http: ['{limited.host}', '{good.host}']\nimages:\n"
            + "".join(f"- {{image: '{front.host}/r{i}:1'}}\n" for front in (limited, good) for i in range(30)), encoding="utf-8")
        self.assertEqual(self.round(), [])
        self.assertEqual(len(good.requests), 30)
        conditions = collections.Counter(image["condition"] for image in self.read_state()["images"])
        self.assertEqual(conditions, {"present": 30, "new": 30})
