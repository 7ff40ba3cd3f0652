# SPDX-License-Identifier: Apache-2.0
"""A tag moved to a digest, by the example program: on real registries, with skopeo as the judge, and on bad ones."""

import hashlib
import json
import subprocess
import time
import unittest

import world
from support import badserver, built, tool
from support.badserver import BadServer, response
from support.images import MEDIA

BOTH = ("linux/amd64", "linux/arm64")
NONE = "sha256:" + "0" * 64


def move(reference, digest, expected, *options, timeout=60):
    """Runs the example; expected None: there should be no such tag."""
    return subprocess.run([built("examples/move"), reference, digest, expected or "-", *map(str, options)],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout, check=False)


def raw(host, name):
    """The bytes of a manifest as skopeo gets them, and what it says their media type is."""
    done = subprocess.run([tool("skopeo"), "--insecure-policy", "inspect", "--raw", "--tls-verify=false", f"docker://{host}/{name}"],
                          capture_output=True, timeout=60, check=True)
    return done.stdout, json.loads(done.stdout)["mediaType"]


class RealRegistries(unittest.TestCase):
    def pushed(self, repository, **options):
        """Two images of a repository: old, at the tag "stable" too, and new."""
        old = world.client().push(repository, "old", **options)
        world.client().push(repository, "stable", **options)
        new = world.client().push(repository, "new", **options)
        stable = hashlib.sha256(raw(world.plain().host, f"{repository}:stable")[0]).hexdigest()
        return old, "sha256:" + stable, new

    def moved(self, host, repository, new, expected, *options, status=0):
        done = move(f"{host}/{repository}:stable", new, expected, *options)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stderr

    def test_all_formats_move_whole(self):
        for media in MEDIA:
            for platforms in (BOTH[:1], BOTH):
                with self.subTest(media=media, platforms=platforms):
                    host, name = world.plain().host, f"move/{media}{len(platforms)}"
                    _, stable, new = self.pushed(name, media=media, platforms=platforms)
                    self.moved(host, name, new.digest, stable)
                    self.assertEqual(raw(host, f"{name}:stable"), raw(host, f"{name}:new"))
                    self.assertEqual(raw(host, f"{name}:stable")[1], MEDIA[media]["index" if len(platforms) > 1 else "manifest"])
                    checked = world.check_images(host, [f"{name}:stable"])
                    self.assertEqual(checked.one()["digest"], new.digest)

    def test_it_takes_four_requests_and_one_writes(self):
        host, name = world.plain().host, "move/requests"
        _, stable, new = self.pushed(name)
        before = len(world.plain().requests())
        self.moved(host, name, new.digest, stable)
        self.moved(host, name, new.digest, stable)
        asked = [(r.method, r.path.rpartition("/")[2]) for r in world.plain().requests()[before:]]
        self.assertEqual(asked, [("GET", new.digest), ("GET", "stable"), ("PUT", "stable"), ("GET", "stable"),
                                 ("GET", new.digest), ("GET", "stable")])

    def test_another_writer_is_not_overwritten(self):
        host, name = world.plain().host, "move/conflict"
        old, stable, new = self.pushed(name)
        before = len(world.plain().requests())
        for expected in (old.digest, None):
            self.assertIn(f"it is at {stable}", self.moved(host, name, new.digest, expected, status=1))
        self.assertNotIn("PUT", [r.method for r in world.plain().requests()[before:]])
        self.assertEqual(raw(host, f"{name}:stable")[0], raw(host, f"{name}@{stable}")[0])

    def test_a_tag_that_is_new(self):
        host, name = world.plain().host, "move/first"
        image = world.client().push(name, "next", BOTH)
        self.assertIn("it is at no digest", self.moved(host, name, image.digest, NONE, status=1))
        self.moved(host, name, image.digest, None)
        self.assertEqual(raw(host, f"{name}:stable"), raw(host, f"{name}:next"))

    def test_what_is_not_in_the_repository(self):
        host, name = world.plain().host, "move/elsewhere"
        _, stable, _ = self.pushed(name)
        other = world.client().push("move/other", "1")
        self.assertIn("copy it there first", self.moved(host, name, other.digest, stable, status=2))

    def test_with_a_password(self):
        host, name = world.htpasswd().host, "move/password"
        _, stable, new = self.pushed(name)
        auth = world.FOLDER / "move-auth.json"
        world.write_auth_file(auth, host)
        self.assertIn("401", self.moved(host, name, new.digest, stable, status=2))
        self.moved(host, name, new.digest, stable, f"auth={auth}")
        self.assertEqual(raw(world.plain().host, f"{name}:stable"), raw(world.plain().host, f"{name}:new"))

    def test_with_tokens_behind_tls(self):
        login = world.token_with_logins()
        auth = world.FOLDER / "move-token-auth.json"
        for service, options in ((world.token(), ()), (login, (f"auth={auth}",))):
            host, name = service.front.host, f"move/token{len(options)}"
            _, stable, new = self.pushed(name)
            world.write_auth_file(auth, host)
            asked = len(service.tokens.requests)
            self.moved(host, name, new.digest, stable, f"ca={world.authority().crt}", *options)
            (request,) = service.tokens.requests[asked:]
            self.assertIn(f"repository:{name}:pull,push", request.scopes)
            self.assertEqual(raw(world.plain().host, f"{name}:stable"), raw(world.plain().host, f"{name}:new"))


def manifest_of(text):
    body = json.dumps({"schemaVersion": 2, "mediaType": MEDIA["oci"]["manifest"], "annotations": {"is": text}}).encode()
    return body, "sha256:" + hashlib.sha256(body).hexdigest()


OLD, OLD_DIGEST = manifest_of("old")
NEW, NEW_DIGEST = manifest_of("new")


def shown(body):
    return response(200, body, Content_Type=MEDIA["oci"]["manifest"])


def registry_that_answers_a_put(answer, by_digest=NEW):
    """The tag is at OLD for ever; the connection ends after each write."""
    def behave(server, connection, request):
        if request.startswith("GET ") and NEW_DIGEST in request:
            return shown(by_digest)
        if request.startswith("GET "):
            return shown(OLD)
        if callable(answer):
            return answer(server, connection, request)
        connection.sendall(answer)
        return None
    return behave


class BadRegistries(unittest.TestCase):
    def refused(self, server, *words):
        began = time.monotonic()
        done = move(f"{server.host}/some/image:stable", NEW_DIGEST, OLD_DIGEST, "deadline=2", f"plain-http={server.host}")
        self.assertLess(time.monotonic() - began, 7)
        self.assertEqual(done.returncode, 2, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        return [request.split()[0] for request in server.requests]

    def test_wrong_bytes(self):
        with BadServer(registry_that_answers_a_put(b"", by_digest=OLD)) as server:
            self.assertEqual(self.refused(server, "do not have this digest"), ["GET"])

    def test_told_but_not_moved(self):
        with BadServer(registry_that_answers_a_put(response(201, Docker_Content_Digest=NEW_DIGEST))) as server:
            self.assertEqual(self.refused(server, "left the tag where it was"), ["GET", "GET", "PUT", "GET"])

    def test_errors_are_not_repeated(self):
        for status in (500, 503, 429, 403):
            with self.subTest(status), BadServer(registry_that_answers_a_put(response(status, Retry_After="1"))) as server:
                self.assertEqual(self.refused(server, str(status)), ["GET", "GET", "PUT", "GET"])

    def test_no_answer_to_the_write(self):
        for behave in (badserver.reset, badserver.silent):
            with self.subTest(behave.__name__), BadServer(registry_that_answers_a_put(behave)) as server:
                self.assertIn("PUT", self.refused(server))

    def test_no_answer_at_all(self):
        with BadServer(badserver.silent) as server:
            self.refused(server, server.host)

    def test_a_redirect_to_another_host(self):
        """Neither what is written nor the login goes there."""
        auth = world.FOLDER / "move-redirect-auth.json"
        with BadServer(badserver.always(response(201))) as other:
            answer = response(307, Location=f"http://{other.host.replace('127.0.0.1', 'localhost')}/v2/x/manifests/1")
            with BadServer(registry_that_answers_a_put(answer)) as server:
                world.write_auth_file(auth, server.host)
                done = move(f"{server.host}/some/image:stable", NEW_DIGEST, OLD_DIGEST, f"auth={auth}", f"plain-http={server.host}")
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn("to another place", done.stderr)
                self.assertEqual(other.requests, [])


if __name__ == "__main__":
    unittest.main()
