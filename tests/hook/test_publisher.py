# SPDX-License-Identifier: Apache-2.0
"""snap/local/README.md, followed by its words on a snap with the layout of cdk-addons and hooks of its own."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from command import clean_environment
from support import ROOT, built
from support.badserver import refused
from support.images import Client
from support.registry import Registry
from support.snaptree import SnapTree, architecture, libraries

PAGE = ROOT / "snap" / "local" / "README.md"
CORPUS = ROOT.parent / "shared" / "corpus"
DESCRIPTION = ROOT / "tests" / "data" / "target" / "cdk-addons" / "imgcheck.yaml"
REVISIONS = {"1": "1.28.2", "2": "1.28.3"}
KEPT, OLD, NEW = "coredns/coredns:1.9.4", "nvidia/k8s-device-plugin:v0.14.0", "nvidia/k8s-device-plugin:v0.14.2"

# Keeps each key in a file, as the addon's apply step reads it.
CONFIGURE = """#!/bin/sh -e
mkdir -p "$SNAP_DATA/config"
for key in registry dns-provider kubeconfig; do
	snapctl get "$key" >"$SNAP_DATA/config/$key"
done
"""

PROGRAM, TRY, APPLY, PACKED = range(4)  # the blocks of shell on the page
HOOKS, EXAMPLE = range(2)               # and of YAML


def blocks(kind):
    return re.findall(rf"```{kind}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)


@unittest.skipUnless(CORPUS.is_dir(), "../shared is not here, and with it the templates of cdk-addons")
class Publisher(unittest.TestCase):
    """Revision 1 has the hook after the page was followed; revision 2 comes in."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="imgcheck-publisher-")
        self.addCleanup(folder.cleanup)
        self.tree = SnapTree(pathlib.Path(folder.name), "cdk-addons")
        self.tree._versions = dict(REVISIONS)
        for revision in REVISIONS:
            self.publish(self.tree.snap / revision, REVISIONS[revision])
        self.tree.set_current("1")
        self.host = refused()
        self.configure()

    def publish(self, root, version):
        """The snap as it was, and then what the page says."""
        (root / "meta" / "hooks").mkdir(parents=True)
        (root / "usr" / "lib").mkdir(parents=True)
        shutil.copytree(CORPUS / f"cdk-addons-v{version}" / "templates", root / "templates")
        configure = root / "meta" / "hooks" / "configure"
        configure.write_text(CONFIGURE, encoding="utf-8")
        configure.chmod(0o755)
        environment = "environment:\n  LD_LIBRARY_PATH: $SNAP/usr/lib\n"
        (root / "meta" / "snap.yaml").write_text(f"name: cdk-addons\nversion: {version}\n{environment}{blocks('yaml')[HOOKS]}", encoding="utf-8")
        for path in libraries(built("imgcheck"))[1]:
            shutil.copy(path, root / "usr" / "lib" / path.name)
        self.follow(PROGRAM, ROOT=root, IMGCHECK=pathlib.Path(built("imgcheck")).parent)
        shutil.copy(DESCRIPTION, root / "meta" / "imgcheck.yaml")

    def follow(self, block, status=0, **variables):
        """Runs a block of the page in a folder with a checkout, where snap and kubectl are stand-ins: what it printed."""
        work = self.tree.root / "work"
        if not work.exists():
            work.mkdir()
            (work / "snap").symlink_to(ROOT / "snap")
            for name, script in (("snap", f"cat '{self.tree.config_file}'"), ("kubectl", 'echo "kubectl $*"'),
                                 ("imgcheck", f"exec '{built('imgcheck')}' \"$@\"")):
                path = self.tree.root / "bin" / name
                path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
                path.chmod(0o755)
        environment = clean_environment() | {key: str(value) for key, value in variables.items()}
        environment["PATH"] = f"{self.tree.root}/bin:{os.environ['PATH']}"
        done = subprocess.run(["sh", "-eu", "-c", blocks("sh")[block]], cwd=work, env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, status, done.stdout)
        return done.stdout

    def configure(self, **keys):
        self.tree.configure({"kubeconfig": "/root/kubeconfig", "registry": f"{self.host}/cdk", "dns-provider": "core-dns", "arch": "amd64",
                             "enable-gpu": True, "imgcheck": {"plain-http": self.host, "deadline": 20, "on-unproven": "veto"}} | keys)

    def expect(self, hook, status, word):
        found, output = self.tree.run_hook(hook)
        self.assertEqual(found, status, output)
        self.assertIn(word, output)
        return output

    def test_it_takes_about_ten_lines(self):
        added = [line for block in (blocks("sh")[PROGRAM], blocks("yaml")[HOOKS]) for line in block.splitlines()]
        self.assertLessEqual(len(added), 12)

    def test_the_description_on_the_page_is_one(self):
        root = self.tree.snap / "2"
        (root / "meta" / "imgcheck.yaml").write_text(blocks("yaml")[EXAMPLE], encoding="utf-8")
        shutil.rmtree(root / "templates")
        (root / "templates").mkdir()
        (root / "templates" / "pod.yaml").write_text("spec: {containers: [{image: '{{ registry }}/a-{{ arch }}:1'}]}\n", encoding="utf-8")
        self.assertEqual(self.follow(TRY, ROOT=root), f"{self.host}/cdk/a-amd64:1\n")

    def test_a_refresh_is_stopped_for_the_device_plugin(self):
        with Registry(self.tree.root / "registry") as registry, Client(registry.host) as client:
            self.host = registry.host
            self.configure()
            for image in (KEPT, OLD):
                client.push(f"cdk/{image.split(':')[0]}", image.split(":")[1], (f"linux/{architecture()}",))
            output = self.expect("pre-refresh", 1, f"{self.host}/cdk/{NEW}")
            self.assertIn("cannot pull 1 of 2 images that cdk-addons revision 2 (1.28.3) needs", output)
            self.assertIn("DaemonSet kube-system/nvidia-device-plugin-daemonset (templates/nvidia-device-plugin.yml:", output)
            client.push(f"cdk/{NEW.split(':')[0]}", NEW.split(":")[1], (f"linux/{architecture()}",))
            self.expect("pre-refresh", 0, "")

    def test_a_unit_that_is_not_set_up_is_not_judged(self):
        self.tree.configure({})
        self.expect("pre-refresh", 0, "not set up")

    def test_its_own_configure_hook_still_works(self):
        self.expect("configure", 0, "")
        self.assertEqual((self.tree.data / "1" / "config" / "registry").read_text(encoding="utf-8"), f"{self.host}/cdk\n")
        self.configure(imgcheck={"mode": "sometimes"})
        self.expect("configure", 1, "imgcheck.mode")

    def test_what_it_needs_before_it_is_packed(self):
        self.assertEqual(self.follow(TRY, ROOT=self.tree.snap / "2"), f"{self.host}/cdk/{KEPT}\n{self.host}/cdk/{NEW}\n")

    def test_the_apply_step_is_held_back(self):
        self.assertNotIn("kubectl apply", self.follow(APPLY, **self.tree.environment()))
        self.configure(imgcheck={"mode": "off"})
        self.assertIn("kubectl apply -f", self.follow(APPLY, **self.tree.environment()))

    @unittest.skipUnless(shutil.which("mksquashfs") and shutil.which("unsquashfs"), "no squashfs-tools")
    def test_the_built_snap(self):
        work = self.tree.root / "work"
        (work / "config.json").write_text(self.tree.config_file.read_text(encoding="utf-8"), encoding="utf-8")
        subprocess.run(["mksquashfs", self.tree.snap / "2", work / "cdk-addons.snap", "-noI", "-noD", "-noF", "-quiet", "-no-progress"], check=True,
                       capture_output=True)
        output = self.follow(PACKED, status=4)  # nobody listens
        self.assertIn("check-snap: meta/hooks/pre-refresh: imgcheck ", output)
        self.assertIn(f"{self.host}/cdk/{NEW}", output)
