# SPDX-License-Identifier: Apache-2.0
"""Through a real proxy: https by CONNECT, http, its login, and who is not asked through it."""

import os
import subprocess
import unittest

import world
from support import built

NAME = "registry.test"


# Runs a program where a proxy listens on the port that nobody writes; prints what it is asked first.
ON_PORT_80 = """
import socket, subprocess, sys
subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
server = socket.create_server(("127.0.0.1", 80))
server.settimeout(20)
process = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
connection = server.accept()[0]
server.close()
print(connection.recv(1000).decode().splitlines()[0])
connection.close()
process.wait()
"""


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

    def run_with(self, **variables):
        env = {key: value for key, value in os.environ.items() if key.endswith("SAN_OPTIONS")} | variables
        return subprocess.run([built("imgcheck"), "check", "--deadline", "20", "--image", f"{NAME}:{world.tls_by_name().port}/proxied/image:v1"],
                              env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)

    def test_a_failure_names_where_the_proxy_came_from(self):
        done = self.run_with(https_proxy="http://u:hunter2@127.0.0.1:1")
        self.assertIn("through the proxy http://127.0.0.1:1 (from the environment)", done.stderr)
        self.assertIn("127.0.0.1:1", done.stdout)
        self.assertNotIn("hunter2", done.stdout + done.stderr)

    def test_a_proxy_without_a_port_is_asked_on_that_of_its_scheme(self):
        """As Go's clients do; that of libcurl would be 1080."""
        for url in ("http://127.0.0.1", "127.0.0.1", "HTTP://127.0.0.1/"):
            with self.subTest(url):
                done = subprocess.run(["unshare", "--net", "python3", "-c", ON_PORT_80, built("imgcheck"), "check", "--deadline", "10",
                                       "--image", f"{NAME}/proxied/image:v1", "--proxy", url], capture_output=True, text=True, timeout=60,
                                      check=False)
                self.assertEqual(done.stdout, f"CONNECT {NAME}:443 HTTP/1.1\n", done.stderr)

    def test_an_exception_that_cannot_be_used_spares_the_others(self):
        """As in Go, whose runtimes read the same variables."""
        for value in (f"192.168.1.*,{NAME}", f"a b,{NAME}", f"{NAME},http://x/", f"10.0.0.0/33,,.other,{NAME}"):
            with self.subTest(value):
                before = len(world.proxy().requests())
                done = self.run_with(HTTPS_PROXY=f"http://{world.proxy().host}", NO_PROXY=value)
                self.assertEqual(done.returncode, 4, "the name is known to the proxy alone")
                self.assertEqual(len(world.proxy().requests()), before)
                self.assertIn("an exception in the proxy setting of the environment is not used", done.stderr)

    def test_exceptions_and_loopback_are_asked_directly(self):
        before = len(world.proxy().requests())
        checked = self.check(world.tls_by_name().port, "--no-proxy", ".other,registry.test")
        self.assertEqual(checked.one()["verdict"], "unreachable", "the name is known to the proxy alone")
        checked = world.check_images(world.plain().host, ["proxied/image:v1"], "--proxy", f"http://{world.proxy().host}")
        self.assertEqual(checked.one()["verdict"], "ok")
        self.assertEqual(world.proxy().requests()[before:], [])
