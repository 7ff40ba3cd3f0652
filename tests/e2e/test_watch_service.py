# SPDX-License-Identifier: Apache-2.0
"""The watch as its units start it, under a real systemd: what confines it must not keep it from its work."""

import base64
import contextlib
import json
import pathlib
import re
import shutil
import tempfile
import unittest

import machine
from support import built, snaptree, tool
from support.images import MEDIA, Client
from support.process import wait_until
from support.registry import Registry, htpasswd_auth

HOOKS = pathlib.Path(__file__).resolve().parents[2] / "hooks"
UNITS = ("imgcheck-watch.service", "imgcheck-watch.timer")
STATE = "/var/lib/imgcheck"
USER, PASSWORD = "watcher", "correct horse"
HASH = "$2b$04$abcdefghijklmnopqrstuujydOTSfIH/d5oUHpsygqV5X9xJLQc6e"  # bcrypt of it, cost 4

# Where a distribution would have the program and its libraries, this machine finds them in the folder that it was given.
PROGRAM = "[Service]\nEnvironment=LD_LIBRARY_PATH=/snaps/lib\n"
# As the unit itself tells how.
LOGIN = "[Service]\nLoadCredential=auth.json:/etc/imgcheck/auth.json\n"

CONFIG = """
images:
  - image: {host}/watched/image:v1
authfile: /run/credentials/imgcheck-watch.service/auth.json
gates:
  - name: tested
    candidate: {host}/gated/image:next
    served: {host}/gated/image:stable
    backup: {host}/gated/image:previous
    validate: [sh, -c, 'echo "$0" > "$HOME/validated"']
"""

_stack = contextlib.ExitStack()


def setUpModule():
    global _client, _host, _machine
    reason = machine.why_not()
    if reason:
        raise unittest.SkipTest(f"no real systemd can run here: {reason}")
    unittest.addModuleCleanup(_stack.close)
    files = machine.FOLDER / "programs"
    _pack(files)
    _machine = _stack.enter_context(machine.Machine(files))
    tool("docker-registry")  # which there is nothing to get from in the machine's network
    _machine.enter_network()
    storage = pathlib.Path(_stack.enter_context(tempfile.TemporaryDirectory(prefix="imgcheck-e2e-")))
    open_registry = _stack.enter_context(Registry(storage / "open"))
    _client = _stack.enter_context(Client(open_registry.host))
    auth = htpasswd_auth(storage, {USER: HASH})
    _host = _stack.enter_context(Registry(storage / "closed", open_registry.storage, auth)).host
    (files / "watch.yaml").write_text(CONFIG.format(host=_host), encoding="utf-8")
    login = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
    (files / "auth.json").write_text(json.dumps({"auths": {_host: {"auth": login}}}), encoding="utf-8")
    inside("mkdir", "-p", "/etc/imgcheck", "/etc/systemd/system/imgcheck-watch.service.d")
    inside("cp", "/snaps/imgcheck", "/usr/local/bin/imgcheck")
    inside("cp", "/snaps/watch.yaml", "/etc/imgcheck/watch.yaml")
    inside("install", "-m", "600", "/snaps/auth.json", "/etc/imgcheck/auth.json")
    inside("cp", "/snaps/program.conf", "/snaps/login.conf", "/etc/systemd/system/imgcheck-watch.service.d/")
    inside("cp", *(f"/snaps/{unit}" for unit in UNITS), "/etc/systemd/system/")
    inside("systemctl", "daemon-reload")


def _pack(folder):
    """What the machine needs of this one."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "lib").mkdir(parents=True)
    shutil.copy(built("imgcheck"), folder)
    for path in snaptree.libraries(built("imgcheck"))[1]:
        shutil.copy(path, folder / "lib")
    for unit in UNITS:
        shutil.copy(HOOKS / "systemd" / unit, folder)
    (folder / "program.conf").write_text(PROGRAM, encoding="utf-8")
    (folder / "login.conf").write_text(LOGIN, encoding="utf-8")


def inside(*command):
    """What a command prints inside, which has to succeed."""
    done = _machine.run(*command)
    if done.returncode != 0:
        raise AssertionError(f"{command}: {done.stderr}{done.stdout}")
    return done.stdout.strip()


def journal():
    return inside("journalctl", "--unit=imgcheck-watch.service", "--output=cat", "--no-pager")


class Service(unittest.TestCase):
    def round(self):
        """One round by the unit."""
        done = _machine.run("systemctl", "start", "imgcheck-watch.service")
        self.assertEqual(done.returncode, 0, journal())

    def test_rounds(self):
        """A first look, a tag that moves, a candidate that is validated and served."""
        first = _client.push("watched/image", "v1")
        candidate = _client.push("gated/image", "next")
        self.round()
        state = json.loads(inside("cat", f"{STATE}/state.json"))
        self.assertIn(first.digest, json.dumps(state), state)
        self.assertNotEqual(inside("stat", "-Lc", "%U", f"{STATE}/state.json"), "root")
        self.assertIn("imgcheck", inside("cat", f"{STATE}/watch.prom"))
        self.assertIn(f"{_host}/watched/image:v1", inside("cat", f"{STATE}/index.html"))
        self.assertEqual(inside("cat", f"{STATE}/validated"), f"{_host}/gated/image@{candidate.digest}")
        served, _ = _client.request("HEAD", "/v2/gated/image/manifests/stable", headers={"Accept": MEDIA["oci"]["manifest"]})
        self.assertEqual(served.headers["Docker-Content-Digest"], candidate.digest)
        moved = _client.push("watched/image", "v1", layers=2)
        self.round()
        self.assertRegex(journal(), rf"image\.changed.*{re.escape(_host)}/watched/image:v1")
        self.assertIn(moved.digest, journal())
        self.assertNotIn(PASSWORD, journal())

    def test_the_timer_starts_it(self):
        inside("systemctl", "start", "imgcheck-watch.timer")
        self.assertTrue(wait_until(lambda: inside("systemctl", "show", "-P", "NextElapseUSecMonotonic", "imgcheck-watch.timer")))
        self.assertEqual(inside("systemctl", "show", "-P", "Unit", "imgcheck-watch.timer"), "imgcheck-watch.service")
