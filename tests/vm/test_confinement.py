# SPDX-License-Identifier: Apache-2.0
"""Refreshes of the strictly confined example on a machine whose AppArmor enforces what snapd's profiles say."""

import contextlib
import json
import pathlib
import re
import shutil
import tempfile
import unittest

import snaps
import vm
from support import built
from support.images import Client
from support.registry import Registry
from support.snaptree import NAME, NEW, OLD

PLUGINS = {OLD: "nvidia/k8s-device-plugin:v0.14.0", NEW: "nvidia/k8s-device-plugin:v0.14.2"}
OTHERS = ("coredns/coredns:1.9.4", "metrics-server/metrics-server:v0.6.3", "addon-resizer-amd64:1.8.9",
          "kube-state-metrics/kube-state-metrics:v2.10.0")
# The machine's own registry, with the images of both versions, and of neither.
HOST = "127.0.0.1:5000"
WHOLE, LACKING = f"{HOST}/whole", f"{HOST}/lacking"
STATE = f"/var/snap/{NAME}/common/imgcheck"

_stack = contextlib.ExitStack()


def setUpModule():
    """Boots the machine, with snapd's own snaps and the old version installed, and a registry on its loopback network."""
    global _machine
    reason = vm.prepare()
    if reason:
        raise unittest.SkipTest(f"no virtual machine can be started here: {reason}")
    disk, files = vm.disk(), vm.FOLDER / "files"
    snaps.build(files, disk / "root", built("imgcheck"), (OLD, NEW, snaps.UNPLUGGED))
    fill_registry(files)
    unittest.addModuleCleanup(_stack.close)
    _machine = _stack.enter_context(vm.Machine(disk, files))
    inside("systemd-run", "--quiet", "--unit=registry", "docker-registry", "serve", "/snaps/registry.yml")
    inside("sh", "-c", f"until busybox wget -q -O /dev/null http://{HOST}/v2/; do sleep 0.2; done")
    for snap in ("snapd", "core24", f"{NAME}_{OLD}"):
        inside("snap", "install", "--dangerous", f"/snaps/{snap}.snap")
    print(f"snapd {inside('sh', '-c', 'snap version').split()[3]}, Linux {inside('uname', '-r')}, "
          f"AppArmor {inside('cat', '/sys/module/apparmor/parameters/enabled')}", flush=True)


def fill_registry(files):
    """Storage and configuration of the machine's registry."""
    with tempfile.TemporaryDirectory(prefix="imgcheck-vm-") as folder:
        with Registry(folder) as registry, Client(registry.host) as client:
            for part, images in (("whole", (*OTHERS, *PLUGINS.values())), ("lacking", OTHERS)):
                for image in images:
                    client.push(*f"{part}/{image}".rsplit(":", 1))
        shutil.copytree(pathlib.Path(folder) / "storage", files / "storage")
    config = {"version": "0.1", "http": {"addr": HOST},
              "storage": {"filesystem": {"rootdirectory": "/snaps/storage"}, "maintenance": {"readonly": {"enabled": True}}}}
    (files / "registry.yml").write_text(json.dumps(config), encoding="utf-8")  # JSON is YAML


def inside(*command):
    """What a command prints inside, which has to succeed."""
    done = _machine.run(*command)
    if done.returncode != 0:
        raise AssertionError(f"{command}: {done.stderr}")
    return done.stdout.strip()


def denied():
    """What AppArmor or seccomp has denied since the last call to the example, but for its service that only tests have."""
    lines = inside("sh", "-c", "dmesg; dmesg -C").splitlines()
    return [line for line in lines if re.search(rf"(DENIED|type=1326).*snap\.{NAME}\.(?!beat)", line)]


class Confinement(unittest.TestCase):
    """One of two versions is installed, and the other comes in; each needs an image that the other does not."""

    def setUp(self):
        self.start_from(OLD, *PLUGINS)

    def start_from(self, version, *or_from):
        """Installs the version, unless another one that will do is there, and makes the settings of a unit that is set up."""
        listed = re.search(rf"(?m)^{NAME} +(\S+) +x(\S+) ", inside("snap", "list"))
        if listed[1] not in (version, *or_from):
            inside("snap", "remove", "--purge", NAME)
            inside("snap", "install", "--dangerous", f"/snaps/{NAME}_{version}.snap")
            listed = (None, version, "1")
        self.old, self.before, self.coming = listed[1], f"x{listed[2]}", f"x{int(listed[2]) + 1}"
        self.new = NEW if self.old != NEW else OLD
        inside("snap", "unset", NAME, "imgcheck")
        inside("snap", "set", NAME, "kubeconfig=/root/kubeconfig", f"registry={LACKING}", "dns-provider=core-dns",
               "enable-gpu=true", f"imgcheck.plain-http={HOST}", "imgcheck.on-unproven=veto")
        denied()

    def refresh(self):
        return _machine.run("snap", "install", "--dangerous", f"/snaps/{NAME}_{self.new}.snap")

    def report(self):
        return json.loads(inside("cat", f"{STATE}/last-report.json"))

    def assert_vetoed(self, done, *words):
        self.assertNotEqual(done.returncode, 0)
        for word in (f"{LACKING}/{PLUGINS[self.new]}", f"revision {self.coming} ({self.new})", *words):
            self.assertIn(word, done.stderr)
        self.assertEqual(inside("readlink", f"/snap/{NAME}/current"), self.before)

    def test_all_that_the_hooks_do_is_allowed(self):
        profiles = inside("cat", "/sys/kernel/security/apparmor/profiles")
        self.assertIn(f"snap.{NAME}.hook.pre-refresh (enforce)", profiles)

        self.assert_vetoed(self.refresh(), "manifest unknown", "templates/nvidia-device-plugin.yaml")
        report = self.report()
        self.assertEqual((report["counts"]["ok"], report["counts"]["missing"]), (4, 1))
        self.assertEqual(report["hook"]["to"], [{"revision": self.coming, "version": self.new}])
        self.assertIn("result=vetoed", inside("cat", f"{STATE}/last-status"))
        self.assertEqual(len(inside("ls", f"{STATE}/history").split()), 1)
        line = inside("journalctl", "-t", f"{NAME}.imgcheck", "-o", "cat", "-n", "1")
        self.assertRegex(line, rf"^pre-refresh result=vetoed decision=veto from={self.before} to={self.coming} .*missing=1")
        inside("snap", "run", f"{NAME}.health")
        self.assertIn("1 missing", inside("snap", "info", NAME))

        inside("snap", "set", NAME, f"registry={WHOLE}", f"imgcheck.accept-revision={self.coming}")
        done = self.refresh()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.report()["decision"], "allow")
        self.assertNotIn("accept-revision", inside("snap", "get", "-d", NAME))  # snapctl unset it
        self.assertEqual(inside("cat", f"{STATE}/known-revisions").split(), [self.before, self.coming])
        self.assertIn("applied the addons", inside("snap", "run", f"{NAME}.apply"))
        self.assertEqual(denied(), [])

    def test_the_plug_is_not_connected(self):
        inside("snap", "disconnect", f"{NAME}:network")
        self.addCleanup(inside, "snap", "connect", f"{NAME}:network")
        remedy = f"its plug is not connected (snap connect {NAME}:network)"
        self.assert_vetoed(self.refresh(), "cannot reach", f"the hook has no network: {remedy}")
        done = _machine.run("snap", "run", f"{NAME}.apply")
        self.assertIn(f"the app has no network: {remedy}", done.stderr)
        for line in denied():
            self.assertRegex(line, 'operation="create" class="net"')

    def test_the_plug_is_that_of_the_apps_alone(self):
        self.start_from(snaps.UNPLUGGED)
        self.assert_vetoed(self.refresh(), "cannot reach",
                           "the hook has no network: its plug is missing in snap.yaml of revision x1 (pre-refresh: plugs: [network])")
        done = _machine.run("snap", "run", f"{NAME}.apply")
        self.assertNotIn("has no network", done.stderr)
