# SPDX-License-Identifier: Apache-2.0
"""The pre-refresh hook when its own parts fail: a crash, a hang, no memory, no snapctl; and when it is killed."""

import os
import pathlib
import resource
import signal
import subprocess
import time
import unittest

import trees
from support import built
from support.badserver import BadServer, always, response, silent
from support.process import wait_until


def children(pid):
    """The processes that a process has started and that still run."""
    try:
        return [int(word) for word in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()]
    except OSError:
        return []


class Faults(trees.TreeTest):
    """A registry that takes requests and never answers, so that the check is under way for as long as we like."""

    def setUp(self):
        super().setUp()
        self.server = BadServer(silent)
        self.addCleanup(self.server.stop)
        self.tree.add("1")
        self.tree.set_current("1")
        self.tree.add("2", "{{ registry }}/new:v1")
        self.configure(f"{self.server.host}/x")

    def checker(self, process):
        """The process that checks, once its first request has come in."""
        wait_until(lambda: self.server.requests)
        (child,) = children(process.pid)
        return child

    def interrupt(self, number):
        """Sends the checker a signal; the hook's exit status and output."""
        with self.tree.start("pre-refresh") as process:
            os.kill(self.checker(process), number)
            output, _ = process.communicate(timeout=60)
        return process.returncode, output

    def assert_policy(self, expected_status, *words, settings=None):
        self.server.requests.clear()
        self.configure(f"{self.server.host}/x", settings)
        status, output = self.interrupt(signal.SIGABRT)
        self.assertEqual(status, expected_status, output)
        for word in words:
            self.assertIn(word, output)

    def test_a_crash_is_an_internal_error(self):
        self.assert_policy(0, "signal 6", "the refresh goes on")
        self.assertEqual((self.tree.status()["result"], self.tree.status()["internal"]), ("allowed", "1"))
        self.assert_policy(1, "signal 6", "is stopped", "accept-revision=2", settings={"on-internal-error": "veto"})
        self.assertEqual(self.tree.status()["result"], "vetoed")
        self.assert_policy(0, "goes on", settings={"on-internal-error": "veto", "mode": "warn"})

    def break_child(self, number, signal_number):
        """From now on this child of the hook dies as soon as it is made, or is not made."""
        self.break_from_within(FORKS_BAD=number, FORKS_SIGNAL=int(signal_number))

    def test_whichever_child_dies_the_setting_decides(self):
        # They read which keys are asked for, run snapctl, which is asked again if it fails, and judge.
        for child in (1, 3):
            for number in (signal.SIGKILL, 0):
                with self.subTest(child=child, signal=number):
                    self.break_child(child, number)
                    self.configure(f"{self.server.host}/x")
                    self.refresh(0, "cannot check the images", "the refresh goes on")
                    self.assertEqual((self.tree.status()["result"], self.tree.status()["internal"]), ("allowed", "1"))
                    self.configure(f"{self.server.host}/x", {"on-internal-error": "veto"})
                    self.refresh(1, "the refresh is stopped", "accept-revision=2")
            self.configure(f"{self.server.host}/x", {"on-internal-error": "veto", "accept-revision": 2})
            self.refresh(0, "the refresh goes on")
        self.assertEqual(self.server.requests, [])

    def test_what_tells_the_journal_decides_nothing(self):
        image = self.missing()
        for number in (signal.SIGKILL, 0):
            self.break_child(4, number)
            self.refresh(1, image, "the refresh is stopped")

    def test_a_hang_ends_at_the_deadline(self):
        for settings, expected in (({"on-undecided": "veto"}, 1), ({"on-undecided": "warn"}, 0)):
            with self.subTest(settings):
                self.server.requests.clear()
                self.configure(f"{self.server.host}/x", settings | {"deadline": 1})
                began = time.monotonic()
                status, output = self.interrupt(signal.SIGSTOP)
                self.assertEqual(status, expected, output)
                self.assertIn("not done within 1 seconds", output)
                self.assertLess(time.monotonic() - began, 20)
                self.assertEqual(self.tree.status()["undecided"], "1")

    def test_a_registry_that_stalls_ends_at_the_deadline(self):
        self.configure(f"{self.server.host}/x", {"on-undecided": "veto", "deadline": 1})
        began = time.monotonic()
        self.refresh(1, f"{self.server.host}/x/new:v1")
        self.assertLess(time.monotonic() - began, 8)
        self.assertEqual([image["verdict"] for image in self.tree.report()["images"]], ["deadline"])

    def test_reading_counts_against_the_deadline_too(self):
        """Else whoever waits for the check would end it before it tells what it knows."""
        self.configure(f"{self.server.host}/x", {"on-undecided": "veto", "deadline": 20})
        self.break_from_within(FOLDER_SECONDS=25)  # more than there are
        began = time.monotonic()
        self.refresh(1, f"{self.server.host}/x/new:v1")
        self.assertLess(time.monotonic() - began, 10)

    def test_a_killed_hook_leaves_nothing_running_and_can_run_again(self):
        with self.tree.start("pre-refresh") as process:
            child = self.checker(process)
            process.kill()
            process.communicate(timeout=20)
        wait_until(lambda: not pathlib.Path(f"/proc/{child}").exists())
        self.configure(f"{self.server.host}/x", {"on-undecided": "veto", "deadline": 1})
        self.refresh(1, "new:v1")

    def test_no_memory_is_an_internal_error(self):
        # By the limits of the process, or in a sanitizer's build by those of its allocator.
        options = f"allocator_may_return_null=1:max_allocation_size_mb=4:log_path={self.folder}/sanitizer"
        self.tree.extra["ASAN_OPTIONS"] = options
        sanitized = b"__asan_init" in pathlib.Path(built("imgcheck")).read_bytes()
        (self.tree.snap / "2" / "templates" / "big.yaml").write_text("a: " + "x" * (6 << 20), encoding="utf-8")
        command = self.tree.command("pre-refresh")
        self.tree.command = lambda hook: command if sanitized else ["prlimit", f"--as={24 << 20}", *command]
        self.refresh(0, "cannot check", "the refresh goes on")
        self.assertEqual(self.tree.status()["internal"], "1")
        self.configure(f"{self.server.host}/x", {"on-internal-error": "veto"})
        self.refresh(1, "cannot check", "the refresh is stopped")

    def test_whatever_state_it_is_started_in(self):
        """Streams that are closed, limits and ignored signals that are inherited: a missing image stays a veto."""
        self.missing()
        bad = {
            "no streams": lambda: os.closerange(0, 3),
            "no output": lambda: os.closerange(1, 3),
            "a file limit": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (16, 16)),
            "no word of children": lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN),
            "no rights": lambda: os.umask(0o777),
        }
        for name, prepare in bad.items():
            with self.subTest(name):
                done = subprocess.run(self.tree.command("pre-refresh"), cwd="/", env=self.tree.environment(), timeout=60,
                                      stdin=subprocess.DEVNULL, capture_output=True, preexec_fn=prepare, check=False)
                self.assertEqual(done.returncode, 1, done)
                if name not in ("no streams", "no output"):
                    self.assertIn(b"x/new:v1", done.stderr)

    def missing(self):
        """A registry that has nothing."""
        server = BadServer(always(response(404)))
        self.addCleanup(server.stop)
        self.configure(f"{server.host}/x")
        return f"{server.host}/x/new:v1"

    def test_a_report_that_cannot_be_written_leaves_none_of_an_earlier_run(self):
        image = self.missing()
        self.configure(image.removesuffix("/new:v1"), {"mode": "warn"})
        self.refresh(0, image)
        self.configure(image.removesuffix("/new:v1"))
        self.tree.prepare = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (16, 16))  # as a full disk
        self.refresh(1, image, "the report cannot be written", "accept-revision=2")
        state = self.tree.common / "imgcheck"
        self.assertEqual([path.name for path in state.iterdir() if path.name.startswith("last-")], [])
        self.tree.prepare = None
        self.refresh(1, image)
        self.assertEqual(self.tree.status()["result"], "vetoed")

    @unittest.skipUnless(os.geteuid() == 0, "only root can mount")
    def test_nothing_can_be_written(self):
        image, command = self.missing(), self.tree.command
        self.tree.command = lambda hook: ["unshare", "--mount", "sh", "-c",
                                          'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"', self.tree.common,
                                          *command(hook)]
        self.refresh(1, image, "the refresh is stopped", "Read-only file system")
        for hook, expected in (("post-refresh", 0), ("install", 0), ("configure", 0)):
            status, output = self.tree.run_hook(hook)
            self.assertEqual(status, expected, output)
        self.assertEqual(list(self.tree.common.iterdir()), [])

    def test_without_snapctl(self):
        (self.tree.root / "bin" / "snapctl").unlink()
        self.refresh(0, "snapctl", "the refresh goes on")
        self.assertEqual(self.tree.status()["internal"], "1")
        self.assertEqual(self.server.requests, [])

    def test_a_snapctl_that_fails_or_prints_nonsense(self):
        for script in ("echo 'error: no way' >&2; exit 1", "echo nonsense", "echo '[1]'", "kill -9 $$", "exit 0",
                       "head -c 5000000 /dev/zero"):
            with self.subTest(script):
                self.tree.replace_snapctl(script)
                self.refresh(0, "cannot read the snap's configuration", "the refresh goes on")
                self.assertEqual(self.server.requests, [])

    def test_settings_hold_where_a_key_of_the_description_is_at_fault(self):
        """It is what cannot be read of the revision: else nobody would judge it, and nobody be told."""
        description = trees.DESCRIPTION.replace("{config: registry}", "{config: kubeconfig.registry}")
        (self.tree.snap / "2" / "meta" / "imgcheck.yaml").write_text(description, encoding="utf-8")
        self.refresh(0, "is not a map", "left to the post-refresh hook")
        self.tree.set_current("2")
        self.after(1, "is not a map", "the refresh is undone", "accept-revision=2")
        self.tree.set_current("1")
        (self.tree.snap / "2" / "meta" / "hooks" / "post-refresh").unlink()
        self.refresh(1, "is not a map", "accept-revision=2")
        self.assertEqual(self.tree.status()["unreadable"], "1")
        for settings in ({"on-unreadable": "warn"}, {"accept-revision": 2}):
            self.configure(f"{self.server.host}/x", settings)
            self.refresh(0, "is not a map")

    def test_a_snapctl_that_fails_once_changes_nothing(self):
        once = self.tree.root / "once"
        image = self.missing()
        self.tree.replace_snapctl(f'[ -e {once} ] || {{ touch {once}; exit 1; }}; exec {self.tree.real_snapctl()} "$@"')
        self.refresh(1, image)
        for number in (signal.SIGKILL, 0):
            self.break_child(2, number)
            self.refresh(1, image)

    def test_one_call_of_snapctl(self):
        log = self.tree.root / "calls"
        self.tree.replace_snapctl(f'echo "$*" >> {log}; exec {self.tree.real_snapctl()} "$@"')
        self.configure(f"{self.server.host}/x", {"deadline": 1, "on-undecided": "warn"})
        self.refresh(0)
        calls = [line for line in log.read_text(encoding="utf-8").splitlines() if line.startswith("get")]
        self.assertEqual(calls, ["get -d imgcheck kubeconfig registry"])


class Others(trees.TreeTest):
    """install, post-refresh, configure, and what is no hook."""

    def setUp(self):
        super().setUp()
        self.tree.add("1")
        self.tree.set_current("1")

    def test_install_and_post_refresh_record(self):
        record = self.tree.common / "imgcheck" / "known-revisions"
        for hook in ("install", "post-refresh"):
            self.tree.add("x" + str(len(hook)))
            self.assertEqual(self.tree.run_hook(hook), (0, ""))
            self.assertEqual(sorted(record.read_text(encoding="utf-8").split()),
                             sorted(path.name for path in self.tree.snap.iterdir() if path.name != "current"))

    def test_configure_refuses_a_bad_setting(self):
        self.assertEqual(self.tree.run_hook("configure"), (0, ""))
        for settings, word in (({"mode": "of"}, "mode"), ({"deadline": 900}, "deadline"), ({"nonsense": 1}, "nonsense"),
                               ({"authfile": "/etc/passwd"}, "authfile"), ({"proxy": {"https": "ftp://x"}}, "proxy.https")):
            with self.subTest(settings):
                self.tree.configure({"imgcheck": settings})
                status, output = self.tree.run_hook("configure")
                self.assertEqual(status, 1)
                self.assertIn(word, output)
        self.tree.configure({"imgcheck": {"mode": "warn", "accept-revision": 12}})
        self.assertEqual(self.tree.run_hook("configure"), (0, ""))

    def test_configure_shows_a_bad_setting_as_plain_text(self):
        for settings in ({"mode": "a\nb\x1b[31m\u00e4"}, {"plain-http": "x y" * 5000}, {f"key-{i}": 1 for i in range(500)}):
            self.tree.configure({"imgcheck": settings})
            for _ in range(2):
                status, output = self.tree.run_hook("configure")
            self.assertEqual(status, 1)
            self.assertTrue(output.isascii() and output.replace("\n", "").isprintable(), output)
            self.assertLess(len(output), 8192)

    def test_configure_does_not_break_a_refresh(self):
        self.tree.run_hook("configure")
        self.tree.configure({"imgcheck": {"mode": "of"}})
        self.tree.add("2")
        self.tree.set_current("2")
        status, output = self.tree.run_hook("configure")
        self.assertEqual(status, 0)
        self.assertIn("imgcheck.mode=of", output)
        self.assertEqual(self.tree.run_hook("configure")[0], 1)

    def test_outside_a_snap(self):
        self.tree.environment = lambda: {}
        for hook in ("pre-refresh", "post-refresh", "install", "configure"):
            status, output = self.tree.run_hook(hook)
            self.assertEqual(status, 2)
            self.assertIn("SNAP is not set", output)

