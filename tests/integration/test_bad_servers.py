# SPDX-License-Identifier: Apache-2.0
"""Registries that are off, refuse, stall, lie, or are none: each its own verdict, in time, with the place named."""

import json
import ssl
import time
import unittest

import world
from support import badserver
from support.badserver import BadServer, always, response
from support.images import MEDIA, digest_of

MISSING, ACCESS, UNDECIDED = ("missing", 1), ("access", 3), ("undecided", 4)
DEADLINE = 3

MANIFEST = json.dumps({
    "schemaVersion": 2, "mediaType": MEDIA["oci"]["manifest"],
    "config": {"mediaType": MEDIA["oci"]["config"], "digest": digest_of(b"{}"), "size": 2}, "layers": []}).encode()
OTHER = MANIFEST.replace(b'"layers": []', b'"layers":  []')


def manifest(body, digest=None, media=MEDIA["oci"]["manifest"]):
    headers = {"Docker_Content_Digest": digest} if digest else {}
    return always(response(200, body, Content_Type=media, **headers))


def error(status, code, **headers):
    body = json.dumps({"errors": [{"code": code, "message": "no", "detail": None}]}).encode()
    return always(response(status, body, Content_Type="application/json", **headers))


HTML = b"<!DOCTYPE html><html><head><title>Log in</title></head><body>Welcome</body></html>"

# name, behaviour, verdict, (class, exit status)
ROWS = (
    ("says 404 for every manifest", error(404, "MANIFEST_UNKNOWN"), "not-found", MISSING),
    ("says 401 without a challenge", error(401, "UNAUTHORIZED"), "unauthorized", ACCESS),
    ("says 403", error(403, "DENIED"), "denied", ACCESS),
    ("says 500 to the end", error(500, "UNKNOWN"), "server-error", UNDECIDED),
    ("says 503 and to come back tomorrow", error(503, "UNAVAILABLE", Retry_After="86400"), "server-error", UNDECIDED),
    ("says 429 and to come back tomorrow", error(429, "TOOMANYREQUESTS", Retry_After="86400"), "rate-limited", UNDECIDED),
    ("is a web page", always(response(200, HTML, Content_Type="text/html")), "not-a-registry", UNDECIDED),
    ("is no HTTP server", always(b"SSH-2.0-OpenSSH_9.2\r\n"), None, UNDECIDED),
    ("resets the connection", badserver.reset, "unreachable", UNDECIDED),
    ("closes the connection", lambda *_: None, "unreachable", UNDECIDED),
    ("never answers", badserver.silent, "deadline", UNDECIDED),
    ("sends a header without end", badserver.endless_head, "deadline", UNDECIDED),
    ("lies about the digest in a header", manifest(MANIFEST, digest_of(OTHER)), "corrupt", MISSING),
    ("cuts the manifest short", manifest(MANIFEST[:-20]), "corrupt", MISSING),
    ("sends a manifest that is no JSON", manifest(b"\x00" * 200), "corrupt", MISSING),
)


class BadServers(unittest.TestCase):
    def ask(self, host, reference, *arguments, plain_http=True):
        """A check of one image that has to end in time, one way or another."""
        began = time.monotonic()
        checked = world.check_images(host, [reference], "--deadline", DEADLINE, *arguments, plain_http=plain_http)
        self.assertLess(time.monotonic() - began, DEADLINE + 5)
        image = checked.one()
        self.assertIn(host, f"{image['reason']} {image['host']} {image['reference']}")
        return image, checked.status

    def test_each_has_its_verdict(self):
        for name, behave, verdict, (group, status) in ROWS:
            with self.subTest(name), BadServer(behave) as server:
                image, exit_status = self.ask(server.host, "some/image:v1")
                if verdict:
                    self.assertEqual(image["verdict"], verdict, image)
                self.assertEqual((image["class"], exit_status), (group, status), image)
                self.assertTrue(server.requests)

    def test_a_lie_about_content_asked_for_by_digest(self):
        with BadServer(manifest(OTHER, digest_of(MANIFEST))) as server:
            image, status = self.ask(server.host, f"some/image@{digest_of(MANIFEST)}")
            self.assertEqual((image["verdict"], status), ("corrupt", 1), image)

    def test_nobody_listens(self):
        image, status = self.ask(badserver.refused(), "some/image:v1")
        self.assertEqual((image["verdict"], status), ("unreachable", 4), image)

    def test_a_name_that_does_not_exist(self):
        image, status = self.ask("registry.invalid:5000", "some/image:v1")
        self.assertEqual((image["verdict"], status), ("unreachable", 4), image)

    def test_no_tls_where_it_is_expected(self):
        with BadServer(always(response(200, b"{}"))) as server:
            image, status = self.ask(server.host, "some/image:v1", plain_http=False)
            self.assertEqual((image["verdict"], status), ("tls", 4), image)

    def test_a_certificate_for_another_name(self):
        pair = world.authority().issue("elsewhere", hosts=("DNS:elsewhere.example",))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pair.crt, pair.key)
        with BadServer(always(response(200, b"{}")), context) as server:
            image, status = self.ask(server.host, "some/image:v1", "--cacert", world.authority().crt, plain_http=False)
            self.assertEqual((image["verdict"], status), ("tls", 4), image)

    def test_one_that_stalls_does_not_hold_up_the_others(self):
        world.client().push("beside/a-bad-one", "v1")
        good = f"{world.plain().host}/beside/a-bad-one:v1"
        with BadServer(badserver.silent) as server:
            checked = world.check_images(server.host, ["some/image:v1"], "--deadline", DEADLINE, "--image", good,
                                         "--plain-http", world.plain().host)
            self.assertEqual(checked.verdicts(), {good: "ok", f"{server.host}/some/image:v1": "deadline"})

    def test_a_server_that_is_busy_once_is_asked_again(self):
        world.client().push("busy/image", "v1")
        answers = iter([response(503, Retry_After="1")])
        backend = world.client()

        def behave(_server, _connection, request):
            method, path, _ = request.split("\r\n")[0].split(" ")
            first = next(answers, None)
            if first:
                return first
            got, body = backend.request(method, path, headers={"Accept": ", ".join(MEDIA["oci"].values())})
            return response(got.status, body, Content_Type=got.headers.get("Content-Type", "text/plain"),
                            Docker_Content_Digest=got.headers.get("Docker-Content-Digest", ""))
        with BadServer(behave) as server:
            image, status = self.ask(server.host, "busy/image:v1", "--depth", "tag")
            self.assertEqual((image["verdict"], status), ("ok", 0), image)
