# SPDX-License-Identifier: Apache-2.0
"""The charm's action and its refresh, with stand-ins for Juju's hook tools and for snap."""

import contextlib
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest
from unittest import mock

from support import ROOT, built
from support.images import Client
from support.registry import Registry
from support.snaptree import NAME, NEW, assemble

ACTION = ROOT / "hooks" / "charm" / "actions" / "check-images"
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
            "SNAP_COMMON_ROOT": str(self.folder / "var"), "HOME": str(self.folder)}


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
        self.assertIn(f"run {NAME}.imgcheck check", self.state_of("snap-calls"))

    @unittest.skipUnless(shutil.which("mksquashfs") and shutil.which("unsquashfs"), "no squashfs-tools")
    def test_a_channel_whose_images_are_not_all_there(self):
        subprocess.run(["mksquashfs", self.new, self.state / "new.snap", "-quiet", "-no-progress"], check=True, capture_output=True)
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

    def test_a_list_on_a_worker(self):
        self.tool("imgcheck", f'exec "$IMGCHECK" "$@" --plain-http {_host}')
        self.assertEqual(self.act(list=f"{_host}/all/{IMAGES[0]} {_host}/all/{IMAGES[2]}"), (None, "ok"))
        failed, result = self.act(list=f"{_host}/all/{IMAGES[0]} {_host}/all/gone:v1")
        self.assertEqual(result, "missing")
        self.assertIn("cannot pull 1 of 2", failed)
        self.assertIsNone(self.state_of("snap-calls"))


class Refresh(ToolsTest):
    """snap_refresh.py, as a charm calls it."""

    def setUp(self):
        super().setUp()
        spec = importlib.util.spec_from_file_location("snap_refresh", ROOT / "hooks" / "charm" / "snap_refresh.py")
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

    def test_configuration_of_every_unit(self):
        self.snap_says("", 0)
        self.module.configure("cdk-addons", {"registry": "r:5000/cdk", "imgcheck.mode": None})
        self.assertEqual(self.state_of("snap-calls"), "set cdk-addons imgcheck.mode! registry=r:5000/cdk\n")
