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

# The time without a byte and the deadline may run out together.
STALLED = ("unreachable", "deadline")

# name, behaviour, verdict or several, (class, exit status)
ROWS = (
    ("says 404 for every manifest", error(404, "MANIFEST_UNKNOWN"), "not-found", MISSING),
    ("says 401 without a challenge", error(401, "UNAUTHORIZED"), "unauthorized", ACCESS),
    ("says 403", error(403, "DENIED"), "denied", ACCESS),
    ("says 500 to the end", error(500, "UNKNOWN"), "server-error", UNDECIDED),
    ("says 503 and to come back tomorrow", error(503, "UNAVAILABLE", Retry_After="86400"), "server-error", UNDECIDED),
    ("says 429 and to come back tomorrow", error(429, "TOOMANYREQUESTS", Retry_After="86400"), "rate-limited", UNDECIDED),
    ("is a web page", always(response(200, HTML, Content_Type="text/html")), "not-a-registry", UNDECIDED),
    ("is no HTTP server", always(b"SSH-2.0-OpenSSH_9.2\r\n"), "unreachable", UNDECIDED),
    ("resets the connection", badserver.reset, "unreachable", UNDECIDED),
    ("closes the connection", lambda *_: None, "unreachable", UNDECIDED),
    ("never answers", badserver.silent, STALLED, UNDECIDED),
    ("sends a header without end", badserver.endless_head, STALLED, UNDECIDED),
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
                self.assertIn(image["verdict"], verdict if isinstance(verdict, tuple) else (verdict,), image)
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
        host = world.named(world.plain().host)
        image, status = self.ask(host, "some/image:v1", plain_http=False)
        self.assertEqual((image["verdict"], status), ("tls", 4), image)

    def test_a_certificate_for_another_name(self):
        pair = world.authority().issue("elsewhere", hosts=("DNS:elsewhere.example",))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pair.crt, pair.key)
        with BadServer(always(response(200, b"{}")), context) as server:
            image, status = self.ask(world.named(server.host), "some/image:v1", "--cacert", world.authority().crt,
                                     plain_http=False)
            self.assertEqual((image["verdict"], status), ("tls", 4), image)

    def test_one_that_stalls_does_not_hold_up_the_others(self):
        world.client().push("beside/a-bad-one", "v1")
        good = f"{world.plain().host}/beside/a-bad-one:v1"
        with BadServer(badserver.silent) as server:
            checked = world.check_images(server.host, ["some/image:v1"], "--deadline", DEADLINE, "--image", good,
                                         "--plain-http", world.plain().host)
            verdicts = checked.verdicts()
            self.assertEqual(verdicts.pop(good), "ok")
            self.assertIn(verdicts.pop(f"{server.host}/some/image:v1"), STALLED)
            self.assertFalse(verdicts)

    def test_a_server_that_is_busy_once_is_asked_again(self):
        busy = iter([response(503, Retry_After="1")])
        good = manifest(MANIFEST, digest_of(MANIFEST))
        with BadServer(lambda *request: next(busy, None) or good(*request)) as server:
            image, status = self.ask(server.host, "busy/image:v1", "--depth", "tag")
            self.assertEqual((image["verdict"], status), ("ok", 0), image)
            self.assertEqual(len(server.requests), 2)
