# SPDX-License-Identifier: Apache-2.0
"""The charm's action and its refresh, with stand-ins for Juju's hook tools and for snap."""

import contextlib
import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest
from unittest import mock

from support import ROOT, built
from support.badserver import refused
from support.images import Client
from support.registry import Registry
from support.snaptree import NAME, NEW, OLD, SnapTree, assemble

CHARM = ROOT / "hooks" / "charm"
ACTION, PAGE = CHARM / "actions" / "check-images", CHARM / "README.md"
IMAGES = ("metrics-server/metrics-server:v0.6.3", "addon-resizer-amd64:1.8.9", "kube-state-metrics/kube-state-metrics:v2.10.0")

TOOLS = {
    "action-get": 'cat "$STATE/get-$1" 2>/dev/null || true',
    "action-set": 'for pair; do printf "%s" "${pair#*=}" >"$STATE/set-${pair%%=*}"; done',
    "action-fail": 'printf "%s" "$*" >"$STATE/failed"',
    "action-log": ":",
    "snap": """
echo "$*" >>"$STATE/snap-calls"
case $1 in
get) cat "$STATE/config.json" ;;
download) for a; do case $a in --target-directory=*) to=${a#*=} ;; esac; done
	[ -f "$STATE/new.snap" ] && cp "$STATE/new.snap" "$to/new.snap" || { echo "error: no such channel" >&2; exit 1; } ;;
run) shift 2; exec "$IMGCHECK" "$@" ;;
esac""",
}

_stack = contextlib.ExitStack()


def setUpModule():
    global _host
    folder = pathlib.Path(_stack.enter_context(tempfile.TemporaryDirectory(prefix="imgcheck-charm-")))
    unittest.addModuleCleanup(_stack.close)
    _host = _stack.enter_context(Registry(folder / "registry")).host
    with Client(_host) as client:
        for image in IMAGES:
            repository, tag = f"all/{image}".rsplit(":", 1)
            client.push(repository, tag, ("linux/amd64", "linux/arm64"))


class ToolsTest(unittest.TestCase):
    """Stand-ins on PATH, whose state is a folder."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="imgcheck-charm-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.state = self.folder / "state"
        self.state.mkdir()
        self.bin = self.folder / "bin"
        self.bin.mkdir()
        for name, script in TOOLS.items():
            self.tool(name, script)

    def tool(self, name, script):
        path = self.bin / name
        path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        path.chmod(0o755)

    def state_of(self, name):
        path = self.state / name
        return path.read_text(encoding="utf-8") if path.exists() else None

    def environment(self):
        return {key: os.environ[key] for key in ("ASAN_OPTIONS", "UBSAN_OPTIONS") if key in os.environ} | {
            "PATH": f"{self.bin}:/usr/sbin:/usr/bin:/sbin:/bin", "STATE": str(self.state), "IMGCHECK": str(built("imgcheck")),
            "SNAP_COMMON_ROOT": str(self.folder / "var"), "CONTAINERD_ROOT": str(self.folder / "containerd"), "HOME": str(self.folder)}


class Action(ToolsTest):
    def setUp(self):
        super().setUp()
        self.common = self.folder / "var" / NAME / "common"
        self.new = self.folder / "new"
        assemble(self.new, NEW, built("imgcheck"))
        self.configure("all")

    def configure(self, prefix, **keys):
        config = {"kubeconfig": "/root/kubeconfig", "registry": f"{_host}/{prefix}", "arch": "amd64",
                  "imgcheck": {"plain-http": _host}} | keys
        (self.state / "config.json").write_text(json.dumps(config), encoding="utf-8")

    def act(self, **parameters):
        for name, value in ({"snap": NAME} | parameters).items():
            (self.state / f"get-{name}").write_text(str(value), encoding="utf-8")
        done = subprocess.run([ACTION], env=self.environment(), capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertFalse((self.common / "imgcheck-action").exists())
        return self.state_of("failed"), self.state_of("set-result")

    def test_a_folder_with_all_images_there(self):
        self.assertEqual(self.act(path=self.new), (None, "ok"))
        self.assertIn("can be pulled", self.state_of("set-report"))
        if shutil.which("imgcheck", path=self.environment()["PATH"]):
            self.skipTest("imgcheck is installed on this machine, and taken")
        # By the snap's own program, where that may read, and as this unit is configured.
        work = self.common / "imgcheck-action"
        self.assertEqual(self.state_of("snap-calls").splitlines(), [
            f"get -d {NAME}", f"run {NAME}.imgcheck check --target {work}/new --snap-config {work}/config.json"])

    @unittest.skipUnless(shutil.which("mksquashfs") and shutil.which("unsquashfs"), "no squashfs-tools")
    def test_a_channel_whose_images_are_not_all_there(self):
        subprocess.run(["mksquashfs", self.new, self.state / "new.snap", "-noI", "-noD", "-noF", "-quiet", "-no-progress"], check=True,
                       capture_output=True)
        self.assertEqual(self.act(path=self.state / "new.snap"), (None, "ok"))
        (self.state / "get-path").unlink()
        self.configure("all", **{"enable-gpu": True})
        failed, result = self.act(channel="1.29/stable")
        self.assertEqual(result, "missing")
        self.assertIn("cannot pull 1 of 4 images", failed)
        self.assertIn("nvidia/k8s-device-plugin:v0.14.2", self.state_of("set-report"))
        self.assertIn(f"download {NAME} --channel=1.29/stable", self.state_of("snap-calls"))

    def test_what_cannot_be_had_fails_and_says_why(self):
        failed, result = self.act(channel="9.99/edge")
        self.assertIn("no such channel", failed)
        self.assertIsNone(result)

    def test_parameters_that_make_no_sense(self):
        for parameters, word in (({}, "give one of"), ({"path": self.new, "channel": "x"}, "give one of"),
                                 ({"path": "/nowhere", "channel": ""}, "no file or folder"), ({"path": self.new, "snap": "../x"}, "not the name")):
            with self.subTest(parameters):
                self.assertIn(word, self.act(**parameters)[0])

    def test_what_else_an_action_ends_with(self):
        self.configure("all", registry=refused())
        self.assertEqual(self.act(path=self.new)[1], "undecided")
        (self.new / "templates" / "metrics-server.yaml").write_text("a: {{ b|never }}\n", encoding="utf-8")
        self.assertEqual(self.act(path=self.new)[1], "unreadable")
        (self.state / "config.json").write_text("no JSON", encoding="utf-8")
        failed, result = self.act(path=self.new)
        self.assertEqual(result, "error")
        self.assertIn("config.json", failed)

    def test_a_list_on_a_worker(self):
        # By the node's own configuration: a registry by another name is its mirror.
        self.tool("imgcheck", 'exec "$IMGCHECK" "$@"')
        mirror = self.folder / "containerd" / "certs.d" / "registry.internal:5000"
        mirror.mkdir(parents=True)
        (mirror / "hosts.toml").write_text(f'server = "http://{_host}"\n', encoding="utf-8")
        name = "registry.internal:5000/all"
        self.assertEqual(self.act(list=f"{name}/{IMAGES[0]} {name}/{IMAGES[2]}"), (None, "ok"))
        failed, result = self.act(list=f"{name}/{IMAGES[0]},{name}/gone:v1")
        self.assertEqual(result, "missing")
        self.assertIn("cannot pull 1 of 2", failed)
        self.assertIsNone(self.state_of("snap-calls"))

    def test_a_list_on_a_worker_whose_config_toml_has_the_mirrors(self):
        self.tool("imgcheck", 'exec "$IMGCHECK" "$@"')
        config = self.folder / "containerd" / "config.toml"
        config.parent.mkdir()
        config.write_text('version = 2\n[plugins."io.containerd.grpc.v1.cri".registry.mirrors."registry.internal:5000"]\n'
                          f'endpoint = ["http://{_host}"]\n', encoding="utf-8")
        self.assertEqual(self.act(list=f"registry.internal:5000/all/{IMAGES[0]}"), (None, "ok"))


class Refresh(ToolsTest):
    """snap_refresh.py, as a charm calls it."""

    def setUp(self):
        super().setUp()
        spec = importlib.util.spec_from_file_location("snap_refresh", CHARM / "snap_refresh.py")
        self.module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.module)
        patch = mock.patch.dict(os.environ, self.environment())
        patch.start()
        self.addCleanup(patch.stop)

    def snap_says(self, text, status=1):
        (self.state / "says").write_text(text, encoding="utf-8")
        self.tool("snap", f'echo "$*" >>"$STATE/snap-calls"\ncat "$STATE/says" >&2\nexit {status}')

    def test_a_veto_is_a_message(self):
        self.snap_says('error: cannot perform the following tasks:\n- Run pre-refresh hook of "cdk-addons" snap if present '
                       '(run hook "pre-refresh": \n-----\nnot found in r:5000:\n  r:5000/a:1\n\n'
                       "cannot pull 1 of 9 images that cdk-addons revision 1250 (1.28.3) needs; the refresh is stopped\n-----)\n")
        message = self.module.refresh("cdk-addons", "1.28/stable")
        self.assertIn("cannot pull 1 of 9 images", message)
        self.assertIn("/var/snap/cdk-addons/common/imgcheck/last-report.json", message)

    def test_success_and_other_failures(self):
        self.snap_says("", 0)
        self.assertIsNone(self.module.refresh("cdk-addons", "1.28/stable"))
        for text in ("error: snap not found", '- Run pre-refresh hook of "other" snap if present (run hook "pre-refresh": no)'):
            self.snap_says(text)
            with self.assertRaises(subprocess.CalledProcessError):
                self.module.refresh("cdk-addons", "1.28/stable")

    def reconcile(self, says, status):
        """The lines that the page adds to a charm, on a unit that is not the leader: (statuses, whether the rest was reached)."""
        added = re.findall(r"^\+ {8}(.*)$", PAGE.read_text(encoding="utf-8"), re.M)
        self.assertEqual(len(added), 4)
        charm, statuses = mock.Mock(), []
        charm.addon_settings.return_value = {"registry": "r:5000/cdk", "kubeconfig": "/root/kubeconfig"}
        self.snap_says(says, status)
        self.tool("snap", f'[ "$1" = set ] && {{ echo "$*" >>"$STATE/snap-calls"; exit 0; }}\ncat "$STATE/says" >&2\nexit {status}')
        scope = {"self": charm, "snap_refresh": self.module, "channel": "1.28/stable", "BlockedStatus": lambda text: ("blocked", text),
                 "status": mock.Mock(add=statuses.append), "rest": []}
        exec("\n".join([*added, "rest.append(True)"]), scope)
        self.assertEqual(self.state_of("snap-calls"), "set cdk-addons kubeconfig=/root/kubeconfig registry=r:5000/cdk\n")
        (self.state / "snap-calls").unlink()
        return statuses, scope["rest"]

    def test_a_veto_blocks_the_unit_and_the_reconcile_goes_on(self):
        statuses, rest = self.reconcile('- Run pre-refresh hook of "cdk-addons" snap if present (run hook "pre-refresh": \n-----\n'
                                        "cannot pull 1 of 9 images that cdk-addons revision 1250 (1.28.3) needs; stopped\n-----)\n", 1)
        self.assertEqual([kind for kind, _ in statuses], ["blocked"])
        self.assertIn("cannot pull 1 of 9 images", statuses[0][1])
        self.assertEqual(rest, [True])
        self.assertEqual(self.reconcile("", 0), ([], [True]))

    def test_configuration_of_every_unit(self):
        self.snap_says("", 0)
        self.module.configure("cdk-addons", {"registry": "r:5000/cdk", "imgcheck.mode": None})
        self.assertEqual(self.state_of("snap-calls"), "set cdk-addons imgcheck.mode! registry=r:5000/cdk\n")


class Unpatched(ToolsTest):
    """What the page says of a charm without the patch: it is told by a setting, and the apply step still protects."""

    def test_the_refresh_passes_and_the_apply_step_does_not(self):
        tree = SnapTree(self.folder / "machine")
        for revision, version in (("1", OLD), ("2", NEW)):
            tree.mount(revision, version, built("imgcheck"))
        tree.set_current("1")
        config = {"kubeconfig": "x", "registry": f"{_host}/all", "enable-gpu": True, "imgcheck": {"plain-http": _host, "on-unproven": "veto"}}
        with Client(_host) as client:
            client.push("all/nvidia/k8s-device-plugin", "v0.14.0", ("linux/amd64", "linux/arm64"))
        tree.configure(config)
        status, output = tree.run_hook("pre-refresh")
        self.assertEqual(status, 1, output)

        self.tool("juju", 'while [ "$1" != -- ]; do shift; done; shift; exec "$@"')
        self.tool("snap", 'echo "$*" >>"$STATE/snap-calls"')
        command = re.findall(r"```sh\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)[-1]
        subprocess.run(["sh", "-euc", command], env=self.environment(), check=True, timeout=60)
        self.assertEqual(self.state_of("snap-calls"), "set cdk-addons imgcheck.mode=warn\n")
        config["imgcheck"]["mode"] = "warn"
        tree.configure(config)
        status, output = tree.run_hook("pre-refresh")
        self.assertEqual((status, "k8s-device-plugin:v0.14.2" in output), (0, True), output)
        tree.set_current("2")
        self.assertEqual(tree.run_hook("post-refresh")[0], 0)
        done = subprocess.run([tree.snap / "2" / "bin" / "apply"], env=tree.environment(), capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0)
        self.assertIn("k8s-device-plugin:v0.14.2", done.stdout + done.stderr)
        self.assertFalse((tree.common / "applied-version").exists())
