# SPDX-License-Identifier: Apache-2.0
"""A refresh on a real snapd: vetoed while an image is missing, and let through by what the operator may do.

This machine's kernel may have no AppArmor, so that a hook without the network plug reaches a registry all the same:
the plug is looked at instead.
"""

import contextlib
import json
import re
import tempfile
import unittest

import machine
import snaps
from support import built
from support.images import Client
from support.registry import Registry
from support.snaptree import NAME, NEW, OLD

OLD_DEVICE_PLUGIN, DEVICE_PLUGIN = "nvidia/k8s-device-plugin:v0.14.0", "nvidia/k8s-device-plugin:v0.14.2"
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
    snaps.build(packed, rootfs, built("imgcheck"))
    unittest.addModuleCleanup(_stack.close)
    _machine = _stack.enter_context(machine.Machine(packed))
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


def inside(*command):
    """What a command prints inside, which has to succeed."""
    done = _machine.run(*command)
    if done.returncode != 0:
        raise AssertionError(f"{command}: {done.stderr}")
    return done.stdout.strip()


class Refresh(unittest.TestCase):
    """Each test has a part of the registry of its own, with the images of the old revision, which is installed."""

    def setUp(self):
        self.registry = f"{_host}/{self.id().rsplit('.', 1)[-1].replace('_', '-')}"
        self.mirror(*OTHERS, OLD_DEVICE_PLUGIN)
        self.addCleanup(_machine.run, "snap", "remove", "--purge", NAME)
        done = install(f"{NAME}_{OLD}")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.set("kubeconfig=/root/kubeconfig", f"registry={self.registry}", "dns-provider=core-dns",
                 "enable-gpu=true", f"imgcheck.plain-http={_host}")

    def mirror(self, *images):
        with Client(_host) as client:
            for image in images:
                repository, tag = f"{self.registry.removeprefix(_host + '/')}/{image}".rsplit(":", 1)
                client.push(repository, tag)

    def set(self, *settings):
        inside("snap", "set", NAME, *settings)

    def refresh(self):
        return install(f"{NAME}_{NEW}")

    def assert_active(self, revision, version):
        self.assertEqual(inside("readlink", f"/snap/{NAME}/current"), revision)
        self.assertRegex(inside("snap", "list", NAME), rf"(?m)^{NAME} +{re.escape(version)} +{revision} ")

    def assert_vetoed(self, done):
        """snapd's text holds our message whole, and the old revision stays."""
        self.assertNotEqual(done.returncode, 0, done.stdout)
        self.assertEqual(done.stdout, "")
        self.assertIn(f'Run pre-refresh hook of "{NAME}" snap if present (run hook "pre-refresh":', done.stderr)
        message = done.stderr.split("-----")[1]
        self.assertIn(f"{self.registry}/{DEVICE_PLUGIN}", message)
        self.assertIn("DaemonSet kube-system/nvidia-device-plugin-daemonset", message)
        self.assertIn("templates/nvidia-device-plugin.yaml", message)
        self.assertIn(f"snap set {NAME} imgcheck.accept-revision=x2", message.strip().splitlines()[-1])
        self.assert_active("x1", OLD)

    def assert_refreshed(self, done):
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_active("x2", NEW)

    def report(self):
        return json.loads(inside("cat", f"/var/snap/{NAME}/common/imgcheck/last-report.json"))

    def test_vetoed_until_the_image_is_there(self):
        self.assert_vetoed(self.refresh())
        self.assertIn(f"{self.registry}/{DEVICE_PLUGIN}", inside("snap", "tasks", "--last=install"))
        self.assertEqual(self.report()["decision"], "veto")
        self.assertEqual(inside("ls", f"/snap/{NAME}").split(), ["current", "x1"])

        self.mirror(DEVICE_PLUGIN)
        self.assert_refreshed(self.refresh())
        self.assertEqual(self.report()["decision"], "allow")

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
        self.assertEqual(missing, [f"{self.registry}/{DEVICE_PLUGIN}"])

    def test_mode_off_asks_nothing(self):
        self.set("imgcheck.mode=off")
        self.assert_refreshed(self.refresh())

    def test_an_accepted_revision_goes_through(self):
        self.set("imgcheck.accept-revision=x3")
        self.assert_vetoed(self.refresh())
        self.set("imgcheck.accept-revision=x2")
        self.assert_refreshed(self.refresh())

    def test_a_setting_that_makes_no_sense_is_refused_when_it_is_made(self):
        done = _machine.run("snap", "set", NAME, "imgcheck.mode=sometimes")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("imgcheck.mode", done.stderr)
        self.assert_vetoed(self.refresh())

    def test_a_registry_that_is_set_later_is_the_one_asked(self):
        self.assert_vetoed(self.refresh())
        self.registry += "-other"
        self.mirror(*OTHERS, DEVICE_PLUGIN)
        self.set(f"registry={self.registry}")
        self.assert_refreshed(self.refresh())

    def test_a_unit_that_is_not_set_up_is_not_asked_about(self):
        inside("snap", "unset", NAME, "kubeconfig")
        self.assert_refreshed(self.refresh())
