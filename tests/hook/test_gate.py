# SPDX-License-Identifier: Apache-2.0
"""The apply gate of a snap, and what its timer publishes."""

import contextlib
import json
import pathlib
import subprocess
import tempfile
import unittest

import trees
from support import built, schema
from support.confined import without_network
from support.images import Client
from support.registry import Registry
from support.snaptree import EXAMPLE

_stack = contextlib.ExitStack()


def setUpModule():
    global _host, _client
    folder = pathlib.Path(_stack.enter_context(tempfile.TemporaryDirectory(prefix="imgcheck-gate-")))
    unittest.addModuleCleanup(_stack.close)
    _host = _stack.enter_context(Registry(folder / "registry")).host
    _client = _stack.enter_context(Client(_host))


class AppTest(trees.TreeTest):
    """Revision 2 comes in; both have the apps of the example snap."""

    def setUp(self):
        super().setUp()
        for revision, images in (("1", ()), ("2", ("{{ registry }}/new:v1",))):
            folder = self.tree.add(revision, *images)
            (folder / "bin").mkdir()
            (folder / "bin" / "imgcheck").symlink_to(built("imgcheck"))
            for name in ("apply", "apply-manifests", "health"):
                (folder / "bin" / name).symlink_to(EXAMPLE / "common" / "bin" / name)
        self.registry = f"{_host}/{self.id().rsplit('.', 1)[-1].replace('_', '-')}"
        self.tree.set_current("1")

    def app(self, name, expected=0):
        done = subprocess.run([self.tree.snap / self.tree.current / "bin" / name], env=self.tree.environment(), capture_output=True, text=True,
                              timeout=60, check=False, preexec_fn=self.tree.prepare)
        self.assertEqual(done.returncode, expected, done.stderr)
        return done.stdout + done.stderr


class Gate(AppTest):
    """The unit was not set up when revision 2 came in."""

    def setUp(self):
        super().setUp()
        self.configure(self.registry, kubeconfig=None)
        self.refresh(0, "not set up")
        self.tree.set_current("2")

    def applied(self):
        return (self.tree.common / "applied-version").exists()

    def test_a_unit_that_is_set_up_later_does_not_apply_what_is_missing(self):
        self.configure(self.registry)
        self.assertIn(f"{self.registry}/new:v1", self.app("apply"))
        self.assertFalse(self.applied())
        self.configure(self.registry, {"mode": "warn"})  # of the refresh; the gate protects all the same
        self.app("apply")
        self.assertFalse(self.applied())
        _client.push(self.registry.removeprefix(f"{_host}/") + "/new", "v1", ("linux/amd64", "linux/arm64"))
        self.app("apply")
        self.assertTrue(self.applied())

    def test_an_app_without_its_plug_says_so(self):
        self.configure(self.registry)
        self.tree.prepare = without_network
        self.tree.replace_snapctl(f'[ "$1" = is-connected ] && exit 1; exec {self.tree.real_snapctl()} "$@"')
        self.assertIn("the app has no network: its plug is not connected (snap connect toy:network)", self.app("apply"))
        self.assertFalse(self.applied())

    def test_off_is_off(self):
        self.configure(self.registry, {"mode": "off"})
        self.app("apply")
        self.assertTrue(self.applied())

    def test_a_check_that_cannot_be_made_does_not_apply(self):
        self.configure(self.registry)
        self.tree.replace_snapctl("echo 'error: no' >&2; exit 1")
        self.app("apply", 70)
        self.assertFalse(self.applied())


class Health(AppTest):
    def health(self):
        self.app("health")
        path = self.tree.config_file.with_suffix(".health")
        return path.read_text(encoding="utf-8") if path.exists() else None

    def test_blocked_after_a_veto_and_okay_after_a_success(self):
        self.configure(self.registry)
        self.refresh(1)
        self.assertEqual(self.health(), "blocked refresh to 2 stopped: 1 missing --code=images-missing")
        self.configure(self.registry, {"mode": "warn"})
        self.refresh(0)
        self.assertEqual(self.health(), "okay")

    def test_without_a_report_nothing_is_said(self):
        self.assertIsNone(self.health())

    def test_no_cause_is_too_long(self):
        (self.tree.snap / "2" / "templates" / "more.yaml").write_text(
            trees.pods("127.0.0.1:1/a:v1", *(f"x{i}.invalid/b:v1" for i in range(3)), "UPPER/case"), encoding="utf-8")
        (self.tree.snap / "2" / "templates" / "bad.yaml").write_text("a: {{ b|never }}", encoding="utf-8")
        self.configure(self.registry, {"on-unreadable": "veto"})
        self.refresh(1)
        self.assertRegex(self.health(), r"^blocked refresh to 2 stopped: \d missing, 1 unreadable, \d undecided --code=images-missing$")

    def report(self, name, expected=0):
        """The last hook run in a format, as the app of the snap prints it."""
        done = subprocess.run([self.tree.snap / self.tree.current / "bin" / "imgcheck", "report", *(("--format", name) if name else ())],
                              env=self.tree.environment(), capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, expected, done.stdout + done.stderr)
        return done.stdout

    def test_the_last_run_in_every_format(self):
        self.report("nagios", 3)  # no report yet: unknown
        self.configure(self.registry)
        output = self.refresh(1)
        self.assertEqual((self.report(None), self.report("text")), (output, output))
        self.assertEqual(schema.validate(json.loads(self.report("json"))), self.tree.report())
        self.assertRegex(self.report("nagios", 2), rf"^IMGCHECK CRITICAL - .*{self.registry}/new:v1.*\|.* missing=1;")
        self.assertRegex(self.report("prometheus"), r'(?m)^imgcheck_images{verdict="not-found"} 1$')
        self.assertEqual({"time", "result", "decision", "revision", "ok", "missing"} - self.tree.status().keys(), set())
        _client.push(f"{self.registry.split('/')[1]}/new", "v1", ("linux/amd64", "linux/arm64"))
        self.refresh(0)
        self.assertRegex(self.report("nagios"), r"^IMGCHECK OK - ")
        self.assertEqual(self.tree.status()["result"], "allowed")
