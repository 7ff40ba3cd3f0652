# SPDX-License-Identifier: Apache-2.0
"""snap/local/README.md, followed on a snap with the layout of cdk-addons and hooks of its own."""

import json
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from support import ROOT, built
from support.badserver import refused
from support.snaptree import SnapTree

PAGE = ROOT / "snap" / "local" / "README.md"
CORPUS = ROOT.parent / "shared" / "corpus" / "cdk-addons-v1.28.2" / "templates"
DESCRIPTION = ROOT / "tests" / "data" / "target" / "cdk-addons" / "imgcheck.yaml"
OURS = """apiVersion: apps/v1
kind: Deployment
metadata: {name: coredns, namespace: kube-system}
spec: {template: {spec: {containers: [{name: coredns, image: "{{ registry }}/coredns/coredns:1.9.4"}]}}}
"""

# Keeps each key in a file, as the addon's apply step reads it.
CONFIGURE = """#!/bin/sh -e
mkdir -p "$SNAP_DATA/config"
for key in registry dns-provider kubeconfig; do
	snapctl get "$key" >"$SNAP_DATA/config/$key"
done
"""


def blocks(kind):
    return re.findall(rf"```{kind}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)


class Publisher(unittest.TestCase):
    """Revision 1 has the hook after the page was followed; revision 2 comes in."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="imgcheck-publisher-")
        self.addCleanup(folder.cleanup)
        self.tree = SnapTree(pathlib.Path(folder.name), "cdk-addons")
        for revision in ("1", "2"):
            self.publish(self.tree.snap / revision)
            self.tree._versions[revision] = "1.28.2"
        self.tree.set_current("1")

    def publish(self, root):
        """The snap as it was, and then what the page says."""
        (root / "meta" / "hooks").mkdir(parents=True)
        if CORPUS.is_dir():
            shutil.copytree(CORPUS, root / "templates")
        else:
            (root / "templates").mkdir()
            (root / "templates" / "core-dns.yaml").write_text(OURS, encoding="utf-8")
        configure = root / "meta" / "hooks" / "configure"
        configure.write_text(CONFIGURE, encoding="utf-8")
        configure.chmod(0o755)
        (root / "meta" / "snap.yaml").write_text("name: cdk-addons\nversion: 1.28.2\n" + blocks("yaml")[0], encoding="utf-8")
        text = DESCRIPTION.read_text(encoding="utf-8")
        if not CORPUS.is_dir():  # a rule that matches nothing is an error
            text = re.sub(r"(?s)\nwhen:.*?\nvalues:", "\nvalues:", text)
        (root / "meta" / "imgcheck.yaml").write_text(text, encoding="utf-8")
        subprocess.run(["sh", "-eu", "-c", blocks("sh")[0]], check=True,
                       env={"PATH": "/usr/bin:/bin", "ROOT": str(root), "IMGCHECK": str(pathlib.Path(built("imgcheck")).parent)})

    def configure(self, **keys):
        host = refused()
        self.tree.configure({"kubeconfig": "/root/kubeconfig", "registry": f"{host}/cdk", "dns-provider": "core-dns", "arch": "amd64",
                             "imgcheck": {"plain-http": host, "deadline": 20, "on-unproven": "veto"}} | keys)
        return host

    def test_it_takes_about_ten_lines(self):
        added = [line for block in (blocks("sh")[0], blocks("yaml")[0]) for line in block.splitlines()]
        self.assertLessEqual(len(added), 12)

    def test_the_check_of_the_built_snap(self):
        done = subprocess.run([ROOT / "snap" / "local" / "check-snap.sh", self.tree.snap / "2"], capture_output=True, text=True,
                              timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_refresh_is_judged(self):
        host = self.configure()
        status, output = self.tree.run_hook("pre-refresh")
        self.assertEqual(status, 1, output)
        self.assertIn(f"{host}/cdk/coredns/coredns:1.9.4", output)
        self.assertIn("core-dns.yaml", output)
        self.tree.configure({})
        status, output = self.tree.run_hook("pre-refresh")
        self.assertEqual(status, 0, output)
        self.assertIn("not set up", output)

    def test_its_own_configure_hook_still_works(self):
        host = self.configure()
        status, output = self.tree.run_hook("configure")
        self.assertEqual(status, 0, output)
        self.assertEqual((self.tree.data / "1" / "config" / "registry").read_text(encoding="utf-8"), f"{host}/cdk\n")
        self.configure(imgcheck={"mode": "sometimes"})
        status, output = self.tree.run_hook("configure")
        self.assertEqual(status, 1)
        self.assertIn("imgcheck.mode", output)

    def test_what_it_needs_before_it_is_packed(self):
        self.configure()
        config = self.tree.root / "snap-config.json"
        config.write_text(json.dumps(json.loads(self.tree.config_file.read_text(encoding="utf-8"))), encoding="utf-8")
        done = subprocess.run([built("imgcheck"), "images", "--target", self.tree.snap / "2", "--snap-config", config],
                              capture_output=True, text=True, timeout=60, check=False, env={"PATH": "/usr/bin:/bin"})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("/cdk/coredns/coredns:1.9.4", done.stdout)
