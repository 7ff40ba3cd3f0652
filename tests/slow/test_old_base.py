# SPDX-License-Identifier: Apache-2.0
"""The snap as snap/snapcraft.yaml builds it for an old base: OpenSSL 1.1.1, jansson 2.13, libyaml 0.2.2 (oldbase.py)."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import oldbase
from support import ROOT, nginx
from support.certs import Authority
from support.images import Client
from support.registry import Registry
from support.snaptree import HOOKS, NAME, SnapTree, architecture

IMAGE = "addons/pause"
PODS = """kind: Pod
spec: {containers: [{image: "{{ registry }}/%s:1"}, {image: "{{ registry }}/%s:2"}]}
"""

# What comes from the base; nothing else may.
OF_THE_BASE = {"ld-linux", "libc", "libcrypto", "libdl", "libm", "libpthread", "libssl", "linux-vdso"}


class BuiltSnap(SnapTree):
    """A machine with revisions of the built snap, whose hooks run in the base."""

    def add(self, revision, template):
        shutil.copytree(oldbase.BASE / "prime", self.snap / revision, symlinks=True)
        (self.snap / revision / "templates" / "pods.yaml").write_text(template, encoding="utf-8")
        self._versions[revision] = "1"

    def run_hook(self, hook, timeout=120):
        here = self.snap / self.current
        variables = self.environment() | {"LD_LIBRARY_PATH": oldbase.library_path(here)}
        done = subprocess.run(oldbase.inside("env", "-i", *(f"{key}={value}" for key, value in variables.items()), here / "meta" / "hooks" / hook),
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=timeout, check=False, text=True)
        return done.returncode, done.stdout


@unittest.skipUnless(os.geteuid() == 0, "not root, and mmdebstrap and chroot want it")
class OldBase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.snap = oldbase.Snap()
        folder = tempfile.TemporaryDirectory(prefix="imgcheck-base-", dir="/tmp")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        authority = Authority(cls.folder / "authority")
        cls.authority = authority.crt
        registry = cls.enterClassContext(Registry(cls.folder / "registry"))
        cls.front = cls.enterClassContext(nginx.Front(cls.folder / "nginx", registry.host, authority.issue("server")))
        with Client(registry.host) as client:
            client.push(IMAGE, "1", (f"linux/{architecture()}",))

    def program(self, *arguments):
        return oldbase.run("env", f"LD_LIBRARY_PATH={oldbase.library_path('/prime')}", *arguments)

    def test_the_unit_tests(self):
        output = oldbase.unit_tests()
        passed, failed = map(int, re.search(r"^(\d+) passed, (\d+) failed", output, re.M).groups())
        self.assertEqual(failed, 0, output)
        self.assertGreater(passed, 300)

    def test_where_the_libraries_come_from(self):
        for name in ("bin/imgcheck", *(f"meta/hooks/{hook}" for hook in HOOKS)):
            with self.subTest(name):
                found = {line.split(".so")[0].split("/")[-1].split("-x86")[0].strip(): line
                         for line in self.program("ldd", f"/prime/{name}").splitlines()}
                theirs = {library for library, line in found.items() if "/prime/" not in line}
                self.assertLessEqual(theirs, OF_THE_BASE)
                self.assertLessEqual({"libcurl", "libimgcheck", "libjansson", "libnghttp2", "libyaml-0"}, found.keys() - theirs)
                self.assertIn("libcrypto.so.1.1", found["libcrypto"])
                self.assertRegex(self.program(f"/prime/{name}", "--version"), r"^imgcheck \d")

    def test_the_check_of_the_built_snap(self):
        self.assertIn("imgcheck", oldbase.run(ROOT / "snap" / "local" / "check-snap.sh", "/prime"))

    def test_a_check_over_tls_and_http2(self):
        seen = len(self.front.requests())
        output = self.program("/prime/bin/imgcheck", "check", "--cacert", self.authority, "--image", f"{self.front.host}/{IMAGE}:1")
        self.assertIn("ok: 1 of 1 image can be pulled", output)
        requests = self.front.requests()[seen:]
        self.assertEqual({request.protocol for request in requests}, {"HTTP/2.0"})
        self.assertEqual(len({request.connection for request in requests}), 1)

    def test_a_refresh_over_tls_and_http2(self):
        tree = BuiltSnap(self.folder / "machine", NAME)
        tree.add("1", PODS % (IMAGE, IMAGE))
        tree.add("2", PODS % (IMAGE, "addons/gone"))
        tree.set_current("1")
        shutil.copy(self.authority, tree.common / "ca.pem")
        tree.configure({"kubeconfig": "x", "registry": self.front.host, "imgcheck": {"ca-file": "ca.pem", "ignore": "*/*/metrics-server:*"}})
        status, output = tree.run_hook("pre-refresh")
        self.assertEqual(status, 1, output)
        self.assertIn(f"{self.front.host}/addons/gone:2", output)
        self.assertIn("not found", output)
        tree.configure({"kubeconfig": "x", "registry": self.front.host,
                        "imgcheck": {"ca-file": "ca.pem", "accept-revision": "2"}})
        status, output = tree.run_hook("pre-refresh")
        self.assertEqual(status, 0, output)
