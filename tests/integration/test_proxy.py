# SPDX-License-Identifier: Apache-2.0
"""Through a real proxy: https by CONNECT, http, its login, and who is not asked through it."""

import os
import unittest

import world

NAME = "registry.test"


@unittest.skipUnless(os.geteuid() == 0, "only root can give a proxy names of its own")
class Through(unittest.TestCase):
    def setUp(self):
        world.client().push("proxied/image", "v1")

    def check(self, port, *arguments, password=world.PROXY_PASSWORD):
        url = f"http://{world.PROXY_USER}:{password}@{world.proxy().host}"
        return world.check("--image", f"{NAME}:{port}/proxied/image:v1", "--cacert", world.authority().crt, "--proxy", url, *arguments)

    def test_https(self):
        port, before = world.tls_by_name().port, len(world.proxy().requests())
        checked = self.check(port)
        self.assertEqual(checked.one()["verdict"], "ok", checked.one()["reason"])
        self.assertEqual(set(world.proxy().requests()[before:]), {("CONNECT", f"{NAME}:{port}")})

    def test_http(self):
        port, before = world.plain().port, len(world.proxy().requests())
        checked = self.check(port, "--plain-http", f"{NAME}:{port}")
        self.assertEqual(checked.one()["verdict"], "ok", checked.one()["reason"])
        asked = world.proxy().requests()[before:]
        self.assertTrue(asked)
        for _, url in asked:
            self.assertTrue(url.startswith(f"http://{NAME}:{port}/v2/proxied/image/"), url)

    def test_a_wrong_login_for_the_proxy(self):
        checked = self.check(world.tls_by_name().port, password="wrong-pass-word")
        self.assertEqual((checked.one()["verdict"], checked.status), ("unreachable", 4))
        self.assertIn("proxy", checked.one()["reason"])
        self.assertNotIn("wrong-pass-word", checked.stderr + str(checked.report))

    def test_a_proxy_that_is_down_is_named(self):
        checked = world.check("--image", f"{NAME}:5000/proxied/image:v1", "--proxy", "http://127.0.0.1:1")
        self.assertEqual((checked.one()["verdict"], checked.status), ("unreachable", 4))
        self.assertIn("127.0.0.1:1", checked.one()["reason"] + str(checked.report))

    def test_exceptions_and_loopback_are_asked_directly(self):
        before = len(world.proxy().requests())
        checked = self.check(world.tls_by_name().port, "--no-proxy", ".other,registry.test")
        self.assertEqual(checked.one()["verdict"], "unreachable", "the name is known to the proxy alone")
        checked = world.check_images(world.plain().host, ["proxied/image:v1"], "--proxy", f"http://{world.proxy().host}")
        self.assertEqual(checked.one()["verdict"], "ok")
        self.assertEqual(world.proxy().requests()[before:], [])
