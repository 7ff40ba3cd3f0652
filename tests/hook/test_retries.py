# SPDX-License-Identifier: Apache-2.0
"""A refresh that is tried again and again: cheap, the same each time, and safe to kill at any instant."""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import tempfile
import time
import unittest

import trees
from support.certs import Authority
from support.freed import Freed
from support.images import Client
from support.registry import Registry

KILLS = 8

_stack = contextlib.ExitStack()


def setUpModule():
    global _registry, _client
    folder = pathlib.Path(_stack.enter_context(tempfile.TemporaryDirectory(prefix="imgcheck-retries-")))
    unittest.addModuleCleanup(_stack.close)
    _registry = _stack.enter_context(Registry(folder / "registry"))
    _client = _stack.enter_context(Client(_registry.host))


class Retries(trees.TreeTest):
    """Revision 2 needs an image that is there, and one that is not."""

    def setUp(self):
        super().setUp()
        self.name = self.id().rsplit(".", 1)[-1].replace("_", "-")
        self.registry = f"{_registry.host}/{self.name}"
        self.tree.add("1")
        self.tree.set_current("1")
        self.tree.add("2", "{{ registry }}/there:v1", "{{ registry }}/gone:v1")
        self.push("there")
        self.configure(self.registry)

    def push(self, name):
        _client.push(f"{self.name}/{name}", "v1", ("linux/amd64", "linux/arm64"))

    def asked(self, name):
        """How often a run of the hook asked for it since the last call."""
        marks = getattr(self, "marks", {})
        count = sum(f"/{self.name}/{name}/" in r.path and not r.agent.startswith("Python") and r.method in ("HEAD", "GET")
                    and "imgcheck" in r.agent for r in _registry.requests())
        self.marks = marks | {name: count}
        return count - marks.get(name, 0)

    @property
    def recent(self):
        return self.tree.common / "imgcheck" / "recent.json"

    def test_what_was_found_is_not_asked_for_again_and_what_was_not_is(self):
        self.refresh(1, "gone:v1")
        self.assertGreater(self.asked("there"), 0)
        self.assertGreater(self.asked("gone"), 0)
        first = {image["reference"]: image["digest"] for image in self.tree.report()["images"]}
        self.refresh(1, "gone:v1")
        self.assertEqual(self.asked("there"), 0)
        self.assertGreater(self.asked("gone"), 0)
        report = self.tree.report()
        self.assertEqual({image["reference"]: image["digest"] for image in report["images"]}, first)
        self.assertEqual((report["counts"]["ok"], report["counts"]["missing"]), (1, 1))
        self.push("gone")
        self.refresh(0)
        self.assertEqual(self.tree.mode_of("recent.json"), 0o600)

    def test_after_a_quarter_of_an_hour_it_is(self):
        for offset in (-901, 60):
            with self.subTest(offset):
                self.refresh(1)
                self.asked("there")
                document = json.loads(self.recent.read_text(encoding="utf-8"))
                for entry in document["images"].values():
                    entry["time"] = int(time.time()) + offset
                self.recent.write_text(json.dumps(document), encoding="utf-8")
                self.refresh(1)
                self.assertGreater(self.asked("there"), 0)

    def test_reusing_makes_it_no_younger(self):
        self.refresh(1)
        before = json.loads(self.recent.read_text(encoding="utf-8"))
        time.sleep(1.1)
        self.refresh(1)
        self.assertEqual(json.loads(self.recent.read_text(encoding="utf-8")), before)

    def test_under_another_configuration_it_is(self):
        self.refresh(1)
        self.asked("there")
        self.configure(self.registry, {"depth": "tag"})
        self.refresh(1)
        self.assertGreater(self.asked("there"), 0)

    def check_reuse(self, reused):
        self.refresh(1)
        (self.assertEqual if reused else self.assertGreater)(self.asked("there"), 0)

    def test_with_another_login_or_authority_it_is(self):
        """With the new login the image may be out of reach."""
        common, authority = self.tree.common, Authority(self.folder / "authority")
        login, ca = common / "auth.json", common / "ca.pem"
        for i in (1, 2):
            (self.folder / f"login-{i}").write_text(json.dumps({"auths": {_registry.host: {"username": "u", "password": f"p{i}"}}}),
                                                    encoding="utf-8")
        shutil.copy(self.folder / "login-1", login)
        shutil.copy(authority.crt, ca)
        self.configure(self.registry, {"authfile": "auth.json", "ca-file": "ca.pem"})
        self.check_reuse(False)
        self.check_reuse(True)
        changes = (("written anew", lambda: login.write_bytes((self.folder / "login-2").read_bytes())),
                   ("another in its place", lambda: (self.folder / "login-1").rename(login)),
                   ("gone", login.unlink), ("back", lambda: shutil.copy(self.folder / "login-2", login)),
                   ("another authority", lambda: ca.write_text(ca.read_text(encoding="utf-8") * 2, encoding="utf-8")))
        for name, change in changes:
            with self.subTest(name):
                change()
                self.check_reuse(False)
                self.check_reuse(True)

    def test_through_another_proxy_of_the_machine_it_is(self):
        for line in ("", "http_proxy=http://127.0.0.1:1\nno_proxy=127.0.0.1\n", "http_proxy=http://127.0.0.1:2\nno_proxy=127.0.0.1\n"):
            with self.subTest(line):
                self.tree.proxies.write_text(line, encoding="utf-8")
                self.check_reuse(False)
                self.check_reuse(True)
        self.tree.proxies.write_text("http_proxy=http://u:p@127.0.0.1:2\nno_proxy=127.0.0.1\n", encoding="utf-8")
        self.check_reuse(False)
        self.check_reuse(False)

    def test_of_a_login_in_the_settings_nothing_is_kept(self):
        """Not even what would tell another one from it; so that nothing is known to be as it was."""
        login = json.dumps({"auths": {_registry.host: {"username": "u", "password": "p"}}})
        for settings in ({"auth-json": login}, {"proxy": {"http": "http://u:p@127.0.0.1:1", "no-proxy": "127.0.0.1"}}):
            with self.subTest(settings):
                self.configure(self.registry, settings)
                self.check_reuse(False)
                self.check_reuse(False)
                self.assertFalse(self.recent.exists())
        self.configure(self.registry, {"proxy": {"http": "http://127.0.0.1:1", "no-proxy": "127.0.0.1"}})
        self.check_reuse(False)
        self.check_reuse(True)

    def test_a_login_in_the_settings_stays_nowhere(self):
        """Neither in a file, nor in memory that our code gives back."""
        if not Freed.program():
            self.skipTest("build/release is not built")
        for revision in ("1", "2"):
            for hook in (self.tree.snap / revision / "meta" / "hooks").iterdir():
                hook.unlink()
                hook.symlink_to(Freed.program())
        login = json.dumps({"auths": {_registry.host: {"username": "u", "password": "hunter2-of-auth"}}})
        self.configure(self.registry, {"auth-json": login, "proxy": {"http": "http://u:hunter2-of-proxy@127.0.0.1:1"}})
        freed = Freed(self.folder, ["hunter2-of-auth", "hunter2-of-proxy"])
        self.tree.extra |= freed.environment()
        self.refresh(1)
        self.tree.run_hook("configure")
        self.assertTrue(freed.lines(), "nothing was looked at")
        self.assertEqual(freed.ours(), [])
        for path in (self.tree.common / "imgcheck").rglob("*"):
            self.assertFalse(path.is_file() and b"hunter2" in path.read_bytes(), path)

    def test_a_damaged_file_is_no_memory(self):
        for data in (b"", b"{", b"[]", b'{"images": {"a": 1}}', b"\xff" * 100):
            with self.subTest(data):
                self.refresh(1)
                self.asked("there")
                self.recent.write_bytes(data)
                self.refresh(1)
                self.assertGreater(self.asked("there"), 0)

    def test_killed_at_any_instant_the_next_run_says_the_same(self):
        began = time.monotonic()
        self.refresh(1, "gone:v1")
        whole = time.monotonic() - began
        state = self.tree.common / "imgcheck"
        # a sanitizer that is killed while it looks for leaks at the end would report just that
        self.tree.extra["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
        for i in range(KILLS):
            with self.tree.start("pre-refresh") as process:
                time.sleep(whole * i / (KILLS - 1))
                process.kill()
                process.communicate(timeout=20)
            for path in (state / "last-report.json", self.recent, *(state / "history").glob("[!.]*")):
                json.loads(path.read_text(encoding="utf-8"))
        del self.tree.extra["ASAN_OPTIONS"]
        self.refresh(1, "gone:v1")
        self.assertEqual(sorted(path.name for path in state.glob(".*")), [])
        self.push("gone")
        self.assertEqual(self.refresh(0), "")

    def kill_at_each_change(self, run):
        """Runs the hook, killed before each change of a file in turn, and what has to hold after that. How many there were."""
        state = self.tree.common / "imgcheck"
        for change in range(1, 60):
            self.break_from_within(KILL_AT=change)
            status, output = self.tree.run_hook(run.__name__.replace("_", "-"))
            for path in (state / "last-report.json", self.recent, *(state / "history").glob("[!.]*")):
                if path.exists():
                    json.loads(path.read_text(encoding="utf-8"))
            self.tree.extra = {}
            if status != -signal.SIGKILL:
                return change - 1
            run()
        return self.fail(f"no end: {output}")

    def test_killed_before_each_change_of_a_file_the_next_run_says_the_same(self):
        def pre_refresh():
            self.refresh(1, "gone:v1")
            self.assertEqual(self.tree.report()["hook"]["result"], "vetoed")

        self.assertGreater(self.kill_at_each_change(pre_refresh), 6)

    def test_killed_before_each_change_of_a_file_post_refresh_says_the_same(self):
        def post_refresh():
            self.after(1, "gone:v1", "the refresh is undone")

        self.tree.set_current("2")
        self.assertGreater(self.kill_at_each_change(post_refresh), 6)

    def test_several_at_once_write_one_after_the_other(self):
        """A snapd that was restarted does not know of the hook that still runs."""
        for _ in range(3):
            hooks = [self.tree.start("pre-refresh") for _ in range(6)]
            outputs = [hook.communicate(timeout=60)[0] for hook in hooks]
            self.assertEqual({hook.returncode for hook in hooks}, {1})
            self.assertNotRegex("".join(outputs), "cannot (be written|write)")
            self.assertEqual(self.tree.report()["hook"]["result"], "vetoed")

    def test_the_last_ten_reports_are_kept(self):
        for _ in range(12):
            self.refresh(1)
        history = sorted((self.tree.common / "imgcheck" / "history").iterdir())
        self.assertEqual(len(history), 10)
        self.assertEqual(json.loads(history[-1].read_text(encoding="utf-8")), self.tree.report())
        times = [json.loads(path.read_text(encoding="utf-8"))["hook"]["time"] for path in history]
        self.assertEqual(times, sorted(times))
        self.assertEqual(self.tree.mode_of(f"history/{history[0].name}"), 0o600)

    def test_a_clock_that_was_set_back_loses_no_report(self):
        self.refresh(1)
        folder = self.tree.common / "imgcheck" / "history"
        for path in folder.iterdir():
            path.unlink()
        future = [f"20990101T000000.{number:09}Z.json" for number in range(10)]
        for name in future:
            (folder / name).write_text("{}", encoding="utf-8")
        for count in (1, 2):
            self.refresh(1)
            history = sorted(folder.iterdir())
            self.assertEqual([path.name for path in history[:-count]], future[count:])
            self.assertEqual(json.loads(history[-1].read_text(encoding="utf-8")), self.tree.report())
