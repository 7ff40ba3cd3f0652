# SPDX-License-Identifier: Apache-2.0
"""A refresh on a real snapd: vetoed while an image is missing, and let through by what the operator may do.

This machine's kernel may have no AppArmor, so that a hook without the network plug reaches a registry all the same:
the plug is looked at instead.
"""

import contextlib
import json
import re
import subprocess
import tempfile
import unittest

import machine
import snaps
from support import built, tool
from support.badserver import BadServer, silent
from support.images import Client
from support.process import wait_until
from support.registry import Registry
from support.snaptree import NAME, NEW, OLD

# What each version needs and the other does not.
PLUGINS = {OLD: "nvidia/k8s-device-plugin:v0.14.0", NEW: "nvidia/k8s-device-plugin:v0.14.2"}
OTHERS = ("coredns/coredns:1.9.4", "metrics-server/metrics-server:v0.6.3", "addon-resizer-amd64:1.8.9",
          "kube-state-metrics/kube-state-metrics:v2.10.0")

_stack = contextlib.ExitStack()
_host = None


def setUpModule():
    """Boots the machine, with snapd's own snaps installed and a registry on its loopback network."""
    global _host, _machine
    reason = machine.why_not()
    if reason:
        raise unittest.SkipTest(f"no real snapd can run here: {reason}")
    rootfs, packed = machine.rootfs(), machine.FOLDER / "snaps"
    snaps.build(packed, rootfs, built("imgcheck"), (OLD, NEW, snaps.PLAIN, snaps.MANY))
    unittest.addModuleCleanup(_stack.close)
    _machine = _stack.enter_context(machine.Machine(packed))
    tool("docker-registry")  # which there is nothing to get from in the machine's network
    _machine.enter_network()
    # In a folder of this run: an image that an earlier run put there would be found.
    storage = _stack.enter_context(tempfile.TemporaryDirectory(prefix="imgcheck-e2e-"))
    _host = _stack.enter_context(Registry(storage)).host
    for snap in ("snapd", "core24"):
        done = install(snap)
        if done.returncode != 0:
            raise RuntimeError(f"cannot install {snap}: {done.stderr}")


def install(name):
    """Installs a packed snap, which is a refresh where an earlier revision is there."""
    return _machine.run("snap", "install", "--dangerous", f"/snaps/{name}.snap")


def start(*command):
    """The same command as a process that goes on."""
    return subprocess.Popen(_machine.command(*command), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True)


def inside(*command):
    """What a command prints inside, which has to succeed."""
    done = _machine.run(*command)
    if done.returncode != 0:
        raise AssertionError(f"{command}: {done.stderr}")
    return done.stdout.strip()


def active():
    """(revision, version) of the example that is installed; ("", "") without one."""
    listed = re.search(rf"(?m)^{NAME} +(\S+) +(\S+) ", _machine.run("snap", "list", NAME).stdout)
    return (listed[2], listed[1]) if listed else ("", "")


class SnapTest(unittest.TestCase):
    """Each test has a part of the registry of its own, with the images of the revision that is installed."""

    def setUp(self):
        self.registry = f"{_host}/{self.id().rsplit('.', 1)[-1].replace('_', '-')}"

    def set_all(self):
        """The settings of a unit that is set up, and no others."""
        inside("snap", "unset", NAME, "imgcheck")
        self.set("kubeconfig=/root/kubeconfig", f"registry={self.registry}", "dns-provider=core-dns",
                 "enable-gpu=true", f"imgcheck.plain-http={_host}")

    def mirror(self, *images):
        with Client(_host) as client:
            for image in images:
                repository, tag = f"{self.registry.removeprefix(_host + '/')}/{image}".rsplit(":", 1)
                client.push(repository, tag)

    def set(self, *settings):
        inside("snap", "set", NAME, *settings)

    def report(self):
        return json.loads(inside("cat", f"/var/snap/{NAME}/common/imgcheck/last-report.json"))

    def assert_active(self, revision, version):
        self.assertEqual(active(), (revision, version))
        self.assertEqual(inside("readlink", f"/snap/{NAME}/current"), revision)


class Adoption(SnapTest):
    """The revision that brings the hooks comes in: the one before it has none that could stop it."""

    def test_its_own_post_refresh_goes_back(self):
        inside("snap", "install", "--dangerous", f"/snaps/{NAME}_{snaps.PLAIN}.snap")
        self.mirror(*OTHERS)
        self.set_all()
        done = install(f"{NAME}_{NEW}")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(f'Run post-refresh hook of "{NAME}" snap if present (run hook "post-refresh":', done.stderr)
        self.assertIn(f"{self.registry}/{PLUGINS[NEW]}", done.stderr)
        self.assertIn("the refresh is undone", done.stderr)
        self.assert_active("x1", snaps.PLAIN)
        self.set("imgcheck.accept-revision=x2")
        done = install(f"{NAME}_{NEW}")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_active("x2", NEW)
        self.assertNotIn("accept-revision", inside("snap", "get", "-d", NAME))


class Refresh(SnapTest):
    """
    One of two versions is installed, and the other comes in.  Each needs an image that the other does not, so it does
    not matter which: a test that ends with a refresh leaves the other way round to the next.
    """

    def setUp(self):
        super().setUp()
        revision, self.old = active()
        if self.old not in PLUGINS:
            _machine.run("snap", "remove", "--purge", NAME)
            inside("snap", "install", "--dangerous", f"/snaps/{NAME}_{OLD}.snap")
            revision, self.old = active()
        self.new = NEW if self.old == OLD else OLD
        self.before, self.coming = revision, f"x{int(revision[1:]) + 1}"
        self.mirror(*OTHERS, PLUGINS[self.old])
        self.missing = f"{self.registry}/{PLUGINS[self.new]}"
        self.set_all()

    def refresh(self):
        return install(f"{NAME}_{self.new}")

    def assert_vetoed(self, done):
        """snapd's text holds our message whole, and the old revision stays."""
        self.assertNotEqual(done.returncode, 0, done.stdout)
        self.assertEqual(done.stdout, "")
        self.assertIn(f'Run pre-refresh hook of "{NAME}" snap if present (run hook "pre-refresh":', done.stderr)
        self.assert_message(done.stderr.split("-----")[1])
        self.assert_active(self.before, self.old)

    def assert_message(self, text):
        self.assertIn(self.missing, text)
        self.assertIn("DaemonSet kube-system/nvidia-device-plugin-daemonset", text)
        self.assertIn("templates/nvidia-device-plugin.yaml", text)
        self.assertIn(f"revision {self.coming} ({self.new}) needs; the refresh is stopped, nothing was changed", text)
        self.assertIn(f"snap set {NAME} imgcheck.accept-revision={self.coming}", text.strip().splitlines()[-1])

    def assert_refreshed(self, done):
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_active(self.coming, self.new)

    def applied(self):
        """What the snap's apply step has applied so far."""
        return _machine.run("cat", f"/var/snap/{NAME}/common/applied-version").stdout.strip()

    def test_vetoed_until_the_image_is_there(self):
        beat = ("systemctl", "show", "--property=MainPID", f"snap.{NAME}.beat.service")
        health = ("systemctl", "start", f"snap.{NAME}.health.service")
        before = inside(*beat)
        self.assertRegex(before, r"^MainPID=[1-9]")
        self.assert_vetoed(self.refresh())
        self.assertEqual(inside(*beat), before)  # it was never stopped
        tasks = inside("snap", "tasks", "--last=install")
        self.assert_message(re.sub(r"(?m)^\S*T\S* ERROR .*$", "", tasks).rpartition("-----")[0])
        self.assertRegex(tasks, r"(?m)^Hold .*Stop snap")
        self.assertEqual(self.report()["decision"], "veto")
        self.assertNotIn(self.coming, inside("ls", f"/snap/{NAME}").split())
        inside(*health)
        self.assertIn(f"refresh to {self.coming} stopped: 1 missing", inside("snap", "info", NAME))
        self.assertIn("blocked", inside("snap", "list", NAME))

        self.mirror(PLUGINS[self.new])
        self.assert_refreshed(self.refresh())
        self.assertEqual(self.report()["decision"], "allow")
        inside(*health)
        self.assertNotIn("blocked", inside("snap", "list", NAME))

    def test_the_network_plug_is_connected(self):
        plugs = inside("snap", "connections", NAME).splitlines()
        self.assertRegex("\n".join(plugs), rf"(?m)^network +{NAME}:network +:network ")

    def test_a_boolean_setting_decides_what_is_needed(self):
        self.assertEqual(json.loads(inside("snap", "get", "-d", NAME))["enable-gpu"], True)
        self.assert_vetoed(self.refresh())
        self.set("enable-gpu=false")
        self.assert_refreshed(self.refresh())

    def test_mode_warn_lets_it_through_and_says_so(self):
        self.set("imgcheck.mode=warn")
        self.assert_refreshed(self.refresh())
        missing = [image["reference"] for image in self.report()["images"] if image["class"] == "missing"]
        self.assertEqual(missing, [self.missing])

    def test_what_was_missing_before_does_not_stop_it(self):
        self.registry += "-lacking"
        self.mirror(*OTHERS[1:], PLUGINS[self.new])
        self.set(f"registry={self.registry}")
        self.assert_refreshed(self.refresh())
        report = self.report()
        found = {image["reference"]: (image["class"], image["effect"]) for image in report["images"] if image["class"] != "ok"}
        self.assertEqual(found, {f"{self.registry}/{OTHERS[0]}": ("already-missing", "warn")})
        self.assertEqual((report["decision"], report["hook"]["result"], report["hook"]["from"]), ("warn", "allowed", self.before))

    def test_an_accepted_revision_goes_through(self):
        self.set("imgcheck.accept-revision=x999")
        self.assert_vetoed(self.refresh())
        self.set(f"imgcheck.accept-revision={self.coming}")
        self.assert_refreshed(self.refresh())
        self.assertNotIn("accept-revision", inside("snap", "get", "-d", NAME))

    def test_a_setting_that_makes_no_sense_is_refused_when_it_is_made(self):
        done = _machine.run("snap", "set", NAME, "imgcheck.mode=sometimes")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("imgcheck.mode=sometimes", done.stderr)
        self.assertNotIn("mode", inside("snap", "get", "-d", NAME))

    def test_a_unit_that_is_set_up_after_the_refresh_does_not_apply(self):
        inside("rm", "-f", f"/var/snap/{NAME}/common/applied-version")
        inside("snap", "unset", NAME, "kubeconfig")
        self.assert_refreshed(self.refresh())
        self.assertEqual(self.report()["hook"]["result"], "skipped")
        self.set("kubeconfig=/root/kubeconfig")
        done = _machine.run("snap", "run", f"{NAME}.apply")
        self.assertEqual((done.returncode, self.applied()), (0, ""), done.stderr)
        self.assertIn(self.missing, done.stderr)
        self.mirror(PLUGINS[self.new])
        inside("snap", "run", f"{NAME}.apply")
        self.assertEqual(self.applied(), self.new)

    def test_500_missing_images_end_with_the_verdict_and_the_remedy(self):
        self.new = snaps.MANY
        done = self.refresh()
        self.assertNotEqual(done.returncode, 0)
        message = done.stderr.split("-----")[1].strip().splitlines()
        self.assertLessEqual(len(message), 60)
        self.assertIn(f"{self.registry}/", "\n".join(message))
        self.assertTrue(any(re.match(r"cannot pull 50[01] of ", line) for line in message), message)
        self.assertIn(f"snap set {NAME} imgcheck.accept-revision={self.coming}", message[-1])
        self.assert_active(self.before, self.old)

    def test_a_parallel_instance_is_judged_by_its_own_settings(self):
        inside("snap", "set", "system", "experimental.parallel-instances=true")
        blue = f"{NAME}_blue"
        inside("snap", "install", "--dangerous", "--name", blue, f"/snaps/{NAME}_{self.old}.snap")
        inside("snap", "set", blue, "kubeconfig=/root/kubeconfig", f"registry={self.registry}", "dns-provider=core-dns",
               "enable-gpu=true", f"imgcheck.plain-http={_host}")
        refreshing = ("snap", "install", "--dangerous", "--name", blue, f"/snaps/{NAME}_{self.new}.snap")
        done = _machine.run(*refreshing)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(f"snap set {blue} imgcheck.accept-revision=x2", done.stderr)
        self.assertIn("vetoed", inside("cat", f"/var/snap/{blue}/common/imgcheck/last-status"))
        inside("snap", "set", blue, "imgcheck.accept-revision=x2")
        inside(*refreshing)
        self.assertEqual(inside("readlink", f"/snap/{blue}/current"), "x2")
        self.assert_active(self.before, self.old)

    def test_a_hook_that_is_killed_runs_again(self):
        with BadServer(silent) as server:
            self.set(f"registry={server.host}/x", f"imgcheck.plain-http={server.host},{_host}")
            with start("snap", "install", "--dangerous", f"/snaps/{NAME}_{self.new}.snap") as refreshing:
                wait_until(lambda: server.requests)
                inside("sh", "-c", "kill -KILL $(cat /sys/fs/cgroup/system.slice/snap.*.hook.pre-refresh*.scope/cgroup.procs)")
                refreshing.communicate(timeout=60)
            self.assertNotEqual(refreshing.returncode, 0)
        self.assert_active(self.before, self.old)
        self.set(f"registry={self.registry}")
        self.assert_vetoed(self.refresh())
