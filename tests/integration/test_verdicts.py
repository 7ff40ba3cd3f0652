# SPDX-License-Identifier: Apache-2.0
"""Verdicts and exit statuses for good and broken images, from each kind of registry."""

import unittest

import gallery
import world

EXIT_OK, EXIT_MISSING, EXIT_USAGE, EXIT_ACCESS, EXIT_UNDECIDED = 0, 1, 2, 3, 4
CREDS = f"{world.USER}:{world.PASSWORD}"


def ways():
    """(name, host, further arguments): one gallery, asked for in every way that a registry can want."""
    ca = ["--cacert", world.authority().crt]
    yield "plain", world.plain().host, ["--plain-http", world.plain().host]
    yield "htpasswd", world.htpasswd().host, ["--plain-http", world.htpasswd().host, "--registry", world.htpasswd().host,
                                              "--creds", CREDS]
    yield "tls", world.tls().host, ca
    yield "token", world.token().front.host, ca
    host = world.token_with_logins().front.host
    yield "token with logins", host, [*ca, "--registry", host, "--creds", CREDS]


class Gallery(unittest.TestCase):
    maxDiff = None

    def test_each_way_gives_each_image_its_verdict(self):
        for name, host, arguments in ways():
            with self.subTest(name):
                pictures = gallery.pictures()
                checked = world.check_images(host, [p.image for p in pictures], *arguments, plain_http=False)
                self.assertEqual(checked.verdicts(), {f"{host}/{p.image}": p.verdict for p in pictures}, checked.stderr)
                self.assertEqual(checked.status, EXIT_MISSING)
                self.assertEqual(checked.report["decision"], "veto")

    def test_one_image_alone_decides_the_exit_status(self):
        host = world.plain().host
        for picture in gallery.pictures():
            with self.subTest(picture.image):
                checked = world.check_images(host, [picture.image])
                self.assertEqual(checked.one()["verdict"], picture.verdict)
                self.assertEqual(checked.status, EXIT_OK if picture.verdict == "ok" else EXIT_MISSING, checked.stderr)

    def test_a_missing_image_can_be_made_a_warning(self):
        checked = world.check_images(world.plain().host, ["nowhere/at-all:v1"], "--warn", "missing")
        self.assertEqual((checked.status, checked.one()["effect"]), (EXIT_OK, "warn"))

    def test_a_depth_looks_as_far_as_it_says(self):
        gallery.pictures()
        rows = (
            ("incomplete/layer:v1", {"tag": "ok", "platform": "ok", "blobs": "incomplete", "bytes": "incomplete"}),
            ("absent/platform-index:v1", {"platform": "no-platform", "blobs": "no-platform"}),
            ("incomplete/child:v1", {"tag": "ok", "platform": "incomplete"}),
            ("nowhere/at-all:v1", {"tag": "not-found", "platform": "not-found"}),
            ("good/index-oci:v1", {"tag": "ok", "platform": "ok", "blobs": "ok", "bytes": "ok"}),
        )
        for image, verdicts in rows:
            for depth, verdict in verdicts.items():
                with self.subTest(image=image, depth=depth):
                    checked = world.check_images(world.plain().host, [image], "--depth", depth)
                    self.assertEqual(checked.one()["verdict"], verdict)

    def test_another_platform_is_another_question(self):
        gallery.pictures()
        rows = (("absent/platform-index:v1", "linux/s390x", "ok"), ("absent/platform-index:v1", "linux/arm64", "ok"),
                ("good/others-layer-gone:v1", "linux/arm64", "incomplete"), ("good/oci:v1", "linux/arm64", "no-platform"))
        for image, platform, verdict in rows:
            with self.subTest(image=image, platform=platform):
                done = world.imgcheck("check", "--plain-http", world.plain().host, "--platform", platform,
                                      "--image", f"{world.plain().host}/{image}")
                self.assertEqual(done.returncode, EXIT_OK if verdict == "ok" else EXIT_MISSING, done.stdout)
                if verdict != "ok":
                    self.assertIn(f"{world.plain().host}/{image}", done.stdout)

    def test_the_digest_found_is_told(self):
        image = world.client().push("told/digest", "v1", gallery.BOTH)
        checked = world.check_images(world.plain().host, ["told/digest:v1"])
        self.assertEqual(checked.one()["digest"], image.digest)
        self.assertEqual(checked.one()["host"], world.plain().host)
        self.assertEqual(checked.one()["platform"], world.PLATFORM)


class Access(unittest.TestCase):
    def refused(self, host, *arguments, plain_http=False):
        world.client().push("private/image", "v1")
        checked = world.check_images(host, ["private/image:v1"], *arguments, plain_http=plain_http)
        self.assertEqual((checked.one()["verdict"], checked.status), ("unauthorized", EXIT_ACCESS), checked.stderr)
        return checked

    def test_no_login_where_one_is_needed(self):
        checked = self.refused(world.htpasswd().host, plain_http=True)
        self.assertEqual(checked.one()["credentials"], "none")

    def test_a_wrong_password_for_a_registry(self):
        host = world.htpasswd().host
        checked = self.refused(host, "--registry", host, "--creds", f"{world.USER}:wrong", plain_http=True)
        self.assertNotIn("wrong", checked.stderr + str(checked.report))

    def test_a_wrong_password_for_a_token_server(self):
        host = world.token_with_logins().front.host
        self.refused(host, "--cacert", world.authority().crt, "--registry", host, "--creds", f"{world.USER}:wrong")

    def test_no_login_for_a_token_server_that_wants_one(self):
        self.refused(world.token_with_logins().front.host, "--cacert", world.authority().crt)

    def test_a_login_from_an_auth_file(self):
        world.client().push("private/image", "v1")
        for name, server in (("htpasswd", world.htpasswd()), ("token", world.token_with_logins().front)):
            with self.subTest(name):
                path = world.FOLDER / f"{name}-auth.json"
                world.write_auth_file(path, server.host)
                arguments = ["--plain-http", server.host] if name == "htpasswd" else ["--cacert", world.authority().crt]
                checked = world.check_images(server.host, ["private/image:v1"], "--authfile", path, *arguments,
                                             plain_http=False)
                self.assertEqual((checked.one()["verdict"], checked.status), ("ok", EXIT_OK), checked.stderr)
                self.assertIn(str(path), checked.one()["credentials"])

    def test_the_login_reaches_the_token_server(self):
        tokens = world.token_with_logins()
        world.client().push("private/image", "v1")
        before = len(tokens.tokens.requests)
        checked = world.check_images(tokens.front.host, ["private/image:v1"], "--cacert", world.authority().crt,
                                     "--registry", tokens.front.host, "--creds", CREDS, plain_http=False)
        self.assertEqual(checked.status, EXIT_OK, checked.stderr)
        asked = tokens.tokens.requests[before:]
        self.assertEqual([(request.user, request.service, request.scopes) for request in asked],
                         [(world.USER, "registry.tests", ["repository:private/image:pull"])])


class Trust(unittest.TestCase):
    def setUp(self):
        world.client().push("trusted/image", "v1")
        self.host = world.named(world.tls().host)

    def verdict(self, *arguments):
        checked = world.check_images(self.host, ["trusted/image:v1"], *arguments, plain_http=False)
        return checked.one()["verdict"], checked.status

    def test_an_unknown_authority_is_not_trusted(self):
        self.assertEqual(self.verdict(), ("tls", EXIT_UNDECIDED))

    def test_another_authority_is_not_trusted(self):
        other = world.Authority(world.FOLDER / "other-authority")
        self.assertEqual(self.verdict("--cacert", other.crt), ("tls", EXIT_UNDECIDED))

    def test_the_right_authority_is_trusted(self):
        self.assertEqual(self.verdict("--cacert", world.authority().crt), ("ok", EXIT_OK))

    def test_verification_can_be_skipped_for_a_host(self):
        self.assertEqual(self.verdict("--skip-verify", self.host), ("ok", EXIT_OK))
        self.assertEqual(self.verdict("--skip-verify", world.named("127.0.0.1:1")), ("tls", EXIT_UNDECIDED))

    def test_a_registry_without_tls_is_not_asked_in_the_clear_unless_told(self):
        self.host = world.named(world.plain().host)
        before = len(world.plain().requests())
        self.assertEqual(self.verdict(), ("tls", EXIT_UNDECIDED))
        self.assertEqual(world.plain().requests()[before:], [])
        self.assertEqual(self.verdict("--plain-http", self.host), ("ok", EXIT_OK))
