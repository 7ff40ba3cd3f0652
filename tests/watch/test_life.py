# SPDX-License-Identifier: Apache-2.0
"""The life of images in a real registry: the expected events, in order, once each."""

import base64
import json

from support.badserver import response
from support.images import MEDIA
from support.registry import Registry, htpasswd_auth
from world import Case


# bcrypt of "correct horse" with cost 4.
PASSWORD_HASH = "$2b$04$abcdefghijklmnopqrstuujydOTSfIH/d5oUHpsygqV5X9xJLQc6e"


class Life(Case):
    def move(self, repository, tag, to):
        """Points one tag at what another points at."""
        kinds = ", ".join(MEDIA["oci"][kind] for kind in ("manifest", "index"))
        answer, body = self.client.request("GET", f"/v2/{repository}/manifests/{tag}", headers={"Accept": kinds}, expect=(200,))
        self.client.request("PUT", f"/v2/{repository}/manifests/{to}", body, {"Content-Type": answer.headers["Content-Type"]},
                            expect=(201,))

    def test_a_scripted_life(self):
        self.start_registry()
        self.write_config("a:1", "b:1")
        self.client.push("b", "1")
        self.assertEqual(self.round(), [], "first sight is no change")
        first = self.client.push("a", "1").digest
        self.assertEqual(self.round(), [("back", "a:1")], "it was not there, and is")
        self.assertEqual(self.round(), [], "nobody is told again")

        moved = self.client.push("a", "2", ("linux/amd64", "linux/arm64")).digest
        self.move("a", "2", "1")
        self.assertEqual(self.round(), [("changed", "a:1")])
        event = self.events()[0]
        self.assertEqual((event["data"]["previous"], event["data"]["digest"]), (first, moved))
        self.assertIn("IfNotPresent", event["data"]["nodes"])
        self.assertEqual(self.round(), [])

        self.client.delete_manifest("a", moved)
        self.assertEqual(self.round(), [("gone", "a:1")])
        self.assertIn("404", self.events()[0]["data"]["reason"])
        self.assertEqual(self.round(), [])
        self.client.push("a", "1")
        self.assertEqual(self.round(), [("back", "a:1")])
        self.assertEqual(self.events()[0]["data"]["previous"], moved)

        self.registry.stop()
        self.assertEqual([self.round(), self.round()], [[], []], "two rounds are noise")
        self.assertEqual(self.round(), [("failing", "a:1"), ("failing", "b:1")])
        self.assertEqual(self.round(), [])
        again = self.enterContext(Registry(self.folder / "again", self.registry.storage))
        self.front.registry = again.host
        self.assertEqual(self.round(), [("recovered", "a:1"), ("recovered", "b:1")])
        self.front.answer = response(429, b"slow down", Retry_After="1")
        self.assertEqual(self.round(), [])
        self.front.answer = None
        self.assertEqual(self.round(), [])

    def test_what_cannot_be_told_changes_nothing(self):
        self.start_registry()
        self.client.push("a", "1")
        self.write_config("a:1")
        self.round()
        seen = self.state.read_text(encoding="utf-8")
        before = json.loads(seen)["images"][0]
        for status in (401, 403, 429, 500, 301, 200):
            self.front.answer = response(status, b"no")
            self.state.write_text(seen, encoding="utf-8")
            with self.subTest(status):
                self.assertEqual(self.round(), [])
                after = self.read_state()["images"][0]
                self.assertEqual([after[name] for name in ("digest", "condition", "since")],
                                 [before[name] for name in ("digest", "condition", "since")])
                self.assertEqual(after["misses"], 1)
                self.assertTrue(after["reason"])

    def test_a_change_while_nothing_could_be_told_is_told_afterwards(self):
        self.start_registry()
        self.client.push("a", "1")
        self.client.push("a", "2")
        self.write_config("a:1")
        self.round()
        self.front.registry = None
        self.assertEqual([self.round() for _ in range(3)], [[], [], [("failing", "a:1")]])
        self.move("a", "2", "1")
        self.front.registry = self.registry.host
        self.assertEqual(self.round(), [("recovered", "a:1"), ("changed", "a:1")])

    def test_a_login_is_read_anew_and_one_that_ran_out_is_no_image_that_vanished(self):
        self.start_registry()
        self.client.push("a", "1")
        closed = self.enterContext(Registry(self.folder / "closed", self.registry.storage,
                                            htpasswd_auth(self.folder / "closed", {"reader": PASSWORD_HASH})))
        logins = self.folder / "auth.json"

        def log_in(password):
            login = base64.b64encode(f"reader:{password}".encode()).decode()
            logins.write_text(json.dumps({"auths": {closed.host: {"auth": login}}}), encoding="utf-8")
        log_in("correct horse")
        self.write_config("a:1", host=closed.host, more="authfile: auth.json\n")
        self.assertEqual(self.round(), [])
        self.assertEqual(self.read_state()["images"][0]["condition"], "present")
        log_in("another one")
        self.assertEqual([self.round() for _ in range(3)], [[], [], [("failing", "a:1")]])
        self.assertIn("401", self.events()[0]["data"]["reason"])
        self.assertNotIn("another one", self.state.read_text(encoding="utf-8"))
        log_in("correct horse")
        self.assertEqual(self.round(), [("recovered", "a:1")])
        logins.write_text("{", encoding="utf-8")
        self.assertIn("auth.json", self.run_watch(status=2).stderr)

    def test_an_image_that_is_watched_no_more_is_forgotten_without_a_word(self):
        self.start_registry()
        for name in "ab":
            self.client.push(name, "1")
        self.write_config("a:1", "b:1")
        self.round()
        self.write_config("b:1")
        self.assertEqual(self.round(), [])
        self.assertEqual([image["ref"].rsplit("/", 1)[1] for image in self.read_state()["images"]], ["b:1"])

    def test_manifests_that_cannot_be_read_forget_nothing(self):
        self.start_registry()
        self.client.push("a", "1")
        manifests = self.folder / "manifests"
        manifests.mkdir()
        pod = manifests / "pod.yaml"
        pod.write_text("kind: Pod\nspec: {containers: [{name: a, imagePullPolicy: Always, image: '%s/a:1'}]}\n" % self.front.host)
        self.config.write_text(f"plain-http: ['{self.front.host}']\nimages: [{{paths: [manifests]}}]\n", encoding="utf-8")
        self.assertEqual(self.round(), [])
        pod.write_text("kind: [\n", encoding="utf-8")
        done = self.run_watch(status=5)
        self.assertIn("pod.yaml", done.stderr)
        self.assertEqual(len(self.read_state()["images"]), 1)

    def test_an_image_field_that_is_no_reference_is_told_and_hinders_nothing(self):
        self.start_registry()
        self.client.push("a", "1")
        (self.folder / "pod.yaml").write_text(
            "kind: Pod\nspec: {containers: [{name: a, image: '%s/a:1'}, {name: b, image: '$IMAGE'}]}\n" % self.front.host)
        self.config.write_text(f"plain-http: ['{self.front.host}']\nimages: [{{paths: [pod.yaml]}}]\n", encoding="utf-8")
        self.assertIn("pod.yaml:2", self.run_watch().stderr)
        self.assertEqual([image["condition"] for image in self.read_state()["images"]], ["present"])

    def test_a_pod_that_never_asks_is_not_asked_for(self):
        self.start_registry()
        (self.folder / "pod.yaml").write_text(
            "kind: Pod\nspec: {containers: [{name: a, imagePullPolicy: Never, image: '%s/a:1'}]}\n" % self.front.host)
        self.config.write_text(f"plain-http: ['{self.front.host}']\nimages: [{{paths: [pod.yaml]}}]\n", encoding="utf-8")
        self.assertEqual(self.round(), [])
        self.assertEqual(self.front.requests, [])
        self.assertEqual(self.read_state()["images"], [])
