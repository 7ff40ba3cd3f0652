# SPDX-License-Identifier: Apache-2.0
"""The examples of imgcheck(1) run as they stand there, in a folder that has what they name."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import world
from support import ROOT, built, tool

PAGE = (ROOT / "hooks" / "man" / "imgcheck.1").read_text(encoding="utf-8")
NAMED = "registry.internal:5000"
BOTH = ("linux/amd64", "linux/arm64")

# Programs that stand around the examples: imgcheck as it is but for a registry without TLS.
PROGRAMS = {
    "imgcheck": 'command=$1; shift\ncase $command in check|guard|plan) set -- --plain-http {host} "$@" ;; esac\nexec {imgcheck} "$command" "$@"\n',
    "kubectl": 'echo "kubectl $*" >> {folder}/ran\n',
    "snap": 'case $1 in\n'
            'download) mksquashfs {folder}/snap "$2_7.snap" -quiet -no-progress >/dev/null ;;\n'
            'get) echo \'{{"registry": "{host}/cdk"}}\' ;;\n'
            'esac\n',
}


def examples():
    text = PAGE.partition(".Sh EXAMPLES\n")[2].partition("\n.Sh ")[0]
    return re.findall(r"^\.Bd -literal.*?\n(.*?)^\.Ed", text, re.M | re.S)


class Examples(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="imgcheck-examples-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.host = world.plain().host
        for repository, tag in (("example/app", "v1"), ("example/app", "v2"), ("example/app-amd64", "v1"), ("example/app-arm64", "v1")):
            world.client().push(repository, tag, BOTH)
        for name, text in PROGRAMS.items():
            path = self.write(f"bin/{name}", "#!/bin/sh\n" + text.format(host=self.host, imgcheck=built("imgcheck"), folder=self.folder))
            path.chmod(0o755)
        self.write(".config/containers/policy.json", '{"default": [{"type": "insecureAcceptAnything"}]}')
        self.make_files()

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def pod(self, image):
        return f"kind: Pod\nmetadata: {{name: p}}\nspec: {{containers: [{{image: \"{image}\"}}]}}\n"

    def make_files(self):
        upstream = f"{{{{ registry|default('{self.host}/example') }}}}"
        self.write("auth.json", "{}")
        self.write("values.json", '{"arch": "amd64"}')
        self.write("manifests/pod.yaml", self.pod(f"{self.host}/example/app:v1"))
        self.write("templates/pod.yaml", self.pod(f"{self.host}/example/app-{{{{ arch }}}}:v1"))
        self.write("container-images.txt", f"v1.28.3: {self.host}/example/app-amd64:v1 {self.host}/example/app-arm64:v1\n")
        for release, tag in (("old", "v1"), ("new", "v2")):
            self.write(f"{release}/templates/pod.yaml", self.pod(f"{upstream}/app:{tag}"))
        self.write("machine/meta/imgcheck.yaml", "version: 1\npaths: [templates]\n")
        self.write("machine/templates/pod.yaml", self.pod(f"{self.host}/example/app:v1"))
        # What `snap download` gets: a template under the registry that the snap is configured with.
        self.write("snap/meta/imgcheck.yaml", "version: 1\npaths: [templates]\nvalues: {registry: {config: registry}}\n")
        self.write("snap/templates/pod.yaml", self.pod(f"{upstream}/downloaded:v1"))
        world.client().push("cdk/downloaded", "v1", BOTH)

    def run_example(self, text):
        env = dict(os.environ, HOME=str(self.folder), SNAP=str(self.folder / "machine"),
                   PATH=f"{self.folder}/bin:{pathlib.Path(tool('skopeo')).parent}:{os.environ['PATH']}")
        return subprocess.run(["sh", "-eu", "-c", text.replace(NAMED, self.host)], cwd=self.folder, env=env, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=120, check=False)

    def test_all_do_what_is_said(self):
        ran = 0
        for text in examples():
            with self.subTest(text):
                if "unsquashfs" in text:
                    shutil.rmtree(self.folder / "new")
                done = self.run_example(text)
                different = text.startswith("imgcheck diff ")
                self.assertEqual(done.returncode, int(different), done.stdout + done.stderr)
                self.assertNotIn("imgcheck: ", done.stderr)
                if "unsquashfs" in text:
                    shutil.rmtree(self.folder / "new")
                    self.make_files()
                ran += 1
        self.assertEqual(ran, 8)
        self.assertEqual((self.folder / "ran").read_text(encoding="utf-8"), "kubectl apply -f out/\n")
        self.assertIn("skopeo copy", (self.folder / "plan").read_text(encoding="utf-8"))
        self.assertIn("imgcheck_veto 0\n", (self.folder / "imgcheck.prom").read_text(encoding="utf-8"))
        self.assertIn("linux/arm64", (self.folder / "report.html").read_text(encoding="utf-8"))
