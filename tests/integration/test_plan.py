# SPDX-License-Identifier: Apache-2.0
"""What plan prints is run, between real registries; then everything is there."""

import json
import os
import pathlib
import shlex
import shutil
import subprocess
import tempfile
import unittest

import world
import yaml
from support import tool
from support.images import Client
from support.registry import Registry

BOTH = ("linux/amd64", "linux/arm64")
TEMPLATE = """kind: Pod
metadata: {{name: p}}
spec:
  containers:
  - image: "{{{{ registry|default('{upstream}') }}}}/nvidia/k8s-device-plugin:v0.14.2"
  - image: "{{{{ registry|default('{upstream}') }}}}/a/pinned:v1@{digest}"
    args: ["--sidecar={{{{ registry|default('{upstream}') }}}}/a/sidecar:v1"]
"""


class Plan(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="imgcheck-plan-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.upstream, self.mirror = (self.enterContext(Registry(self.folder / name)) for name in ("upstream", "mirror"))
        self.client = self.enterContext(Client(self.upstream.host))
        self.plain = [argument for host in (self.upstream.host, self.mirror.host) for argument in ("--plain-http", host)]
        # skopeo asks for a policy before it copies anything.
        (self.folder / ".config" / "containers").mkdir(parents=True)
        (self.folder / ".config" / "containers" / "policy.json").write_text('{"default": [{"type": "insecureAcceptAnything"}]}', encoding="utf-8")

    def push(self, *names, platforms=BOTH):
        return [self.client.push(name, "v1", platforms) for name in names]

    def template(self):
        self.client.push("nvidia/k8s-device-plugin", "v0.14.2", BOTH)
        pinned, _ = self.push("a/pinned", "a/sidecar")
        path = self.folder / "pods.yaml"
        path.write_text(TEMPLATE.format(upstream=self.upstream.host, digest=pinned.digest), encoding="utf-8")
        return path

    def plan(self, *arguments, status=0):
        done = world.imgcheck("plan", *self.plain, *arguments)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def run_lines(self, text):
        """As a person would: the lines are commands of a shell."""
        env = {"PATH": f"{pathlib.Path(tool('skopeo')).parent}:{os.environ['PATH']}", "HOME": str(self.folder)}
        done = subprocess.run(["sh", "-eu"], input=text, env=env, capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 0, text + done.stderr)

    def assert_there(self, *arguments, platforms=BOTH):
        for platform in platforms:
            done = world.imgcheck("check", *self.plain, "--platform", platform, "--depth", "bytes", *arguments)
            self.assertEqual(done.returncode, 0, done.stdout)

    def test_templates_with_a_registry(self):
        path = self.template()
        arguments = ("--registry", f"{self.mirror.host}/cdk", path)
        self.assertEqual(world.check(*self.plain, *arguments).status, 1)
        lines = self.plan(*arguments).stdout
        self.assertEqual([shlex.split(line)[-2:] for line in lines.splitlines()][-1],
                         [f"docker://{self.upstream.host}/nvidia/k8s-device-plugin:v0.14.2",
                          f"docker://{self.mirror.host}/cdk/nvidia/k8s-device-plugin:v0.14.2"])
        self.assertEqual(len(lines.splitlines()), 3)
        self.run_lines(lines)
        self.assert_there(*arguments)
        self.assertEqual(self.plan(*arguments).stdout, "")

    def test_rewritten_references(self):
        self.push("b/one", "b/two")
        arguments = ["--registry", f"{self.mirror.host}/m", "--rewrite"]
        arguments += [argument for name in ("one", "two") for argument in ("--image", f"{self.upstream.host}/b/{name}:v1")]
        lines = self.plan(*arguments).stdout
        self.assertIn(f"docker://{self.upstream.host}/b/one:v1 docker://{self.mirror.host}/m/b/one:v1\n", lines)
        self.run_lines(lines)
        self.assert_there(*arguments)

    def test_from_another_place(self):
        self.push("other/place/c/one")
        image = ("--image", f"{self.mirror.host}/cdk/c/one:v1")
        done = self.plan(*image, status=1)
        self.assertEqual(done.stdout, "")
        self.assertIn("--from", done.stderr)
        arguments = ("--from", f"{self.upstream.host}/other/place")
        # Without a registry only the host is replaced.
        self.assertIn("/other/place/cdk/c/one:v1 ", self.plan(*arguments, *image).stdout)
        lines = self.plan(*arguments, "--registry", f"{self.mirror.host}/cdk", *image).stdout
        self.run_lines(lines)
        self.assert_there(*image)

    def test_one_platform(self):
        self.push("d/one")
        image = ("--image", f"{self.mirror.host}/d/one:v1")
        lines = self.plan("--from", self.upstream.host, "--only", "linux/arm64", *image).stdout
        self.assertIn("--override-arch arm64", lines)
        self.run_lines(lines)
        self.assert_there(*image, platforms=("linux/arm64",))
        self.assertEqual(world.check(*self.plain, "--platform", "linux/amd64", *image).status, 1)
        # By a digest a node pulls what has that digest: the whole index.
        pinned = ("--image", f"{self.mirror.host}/d/two:v1@{self.push('d/two')[0].digest}")
        self.run_lines(self.plan("--from", self.upstream.host, "--only", "linux/arm64", *pinned).stdout)
        self.assert_there(*pinned)
        self.assertIn("--override-variant v7", self.plan("--from", "a.b", "--only", "linux/arm/v7", "--image", f"{self.mirror.host}/x:1").stdout)

    def test_regsync(self):
        path = self.template()
        arguments = ("--registry", f"{self.mirror.host}/cdk", path)
        document = yaml.safe_load(self.plan("--format", "regsync", *arguments).stdout)
        self.assertEqual(document["version"], 1)
        self.assertEqual(document["creds"], [{"registry": host, "tls": "disabled"} for host in (self.upstream.host, self.mirror.host)])
        self.assertEqual({tuple(sorted(entry)) for entry in document["sync"]}, {("source", "target", "type")})
        self.assertEqual(len(document["sync"]), 3)
        lines = [f"skopeo copy --all --src-tls-verify=false --dest-tls-verify=false docker://{entry['source']} docker://{entry['target']}"
                 for entry in document["sync"]]
        self.run_lines("\n".join(lines))
        self.assert_there(*arguments)
        self.assertEqual(yaml.safe_load(self.plan("--format", "regsync", *arguments).stdout)["sync"], [])
        only = self.plan("--format", "regsync", "--only", "linux/s390x", "--from", "a.b", "--image", f"{self.mirror.host}/x:1").stdout
        self.assertEqual(yaml.safe_load(only)["sync"][0]["platform"], "linux/s390x")

    def test_hosts_of_regsync(self):
        hosts = ("--plain-http", "a.b", "--plain-http", "c.d:5000", "--plain-http", "a.b", "--skip-verify", "e.f", "--skip-verify", "a.b")
        done = world.imgcheck("plan", "--format", "regsync", *hosts, "--plain-http", self.mirror.host, "--from", "e.f", "--image", f"{self.mirror.host}/x:1")
        self.assertEqual({host["registry"]: host["tls"] for host in yaml.safe_load(done.stdout)["creds"]},
                         {"a.b": "disabled", "c.d:5000": "disabled", self.mirror.host: "disabled", "e.f": "insecure"})
        self.assertEqual(done.stdout.count("- registry:"), 4)

    def test_hosts_are_the_same_with_their_usual_port(self):
        for option, listed, source in (("--plain-http", "Up.example", "up.example:80/p"), ("--plain-http", "up.example:80", "up.example"),
                                       ("--skip-verify", "up.example:443", "up.example"), ("--plain-http", "[2001:db8::1]", "[2001:db8::1]:80"),
                                       ("--plain-http", self.mirror.host, "[::1]:5000"), ("--plain-http", self.mirror.host, "127.1.2.3:5000"),
                                       ("--plain-http", self.mirror.host, "localhost")):
            self.assertIn("--src-tls-verify", self.plan(option, listed, "--from", source, "--image", f"{self.mirror.host}/x:1").stdout, source)
        for option, listed, source in (("--plain-http", "up.example", "up.example:443"), ("--plain-http", "up.example:8", "up.example"),
                                       ("--plain-http", "example", "up.example"), ("--plain-http", self.mirror.host, "127.example"),
                                       ("--plain-http", self.mirror.host, "localhost.example")):
            self.assertNotIn("--src-tls-verify", self.plan(option, listed, "--from", source, "--image", f"{self.mirror.host}/x:1").stdout, source)

    def test_loopback_needs_no_option(self):
        """As for a node, which asks there without TLS if need be."""
        self.push("e/one", "e/two")
        arguments = ["--registry", f"{self.mirror.host}/m", "--rewrite"]
        arguments += [argument for name in ("one", "two") for argument in ("--image", f"{self.upstream.host}/e/{name}:v1")]
        self.run_lines(world.imgcheck("plan", *arguments).stdout)
        self.assert_there(*arguments)
        self.client.push("e/three", "v1", BOTH)
        shown = world.imgcheck("check", "--registry", f"{self.mirror.host}/m", "--rewrite", "--image", f"{self.upstream.host}/e/three:v1").stdout
        self.assertIn("copy it:  skopeo copy --all --src-tls-verify=false --dest-tls-verify=false docker://", shown)
        self.run_lines(shown[shown.index("skopeo"):].splitlines()[0])

    def test_a_tag_beside_several_digests(self):
        pinned = [self.client.push("f/one", "v1", platforms).digest for platforms in (BOTH, BOTH[:1])]
        moved = self.client.push("f/one", "v1", BOTH + ("linux/s390x",)).digest
        references = [f"{self.mirror.host}/f/one:v1@{digest}" for digest in pinned]
        for extra in ([], [f"{self.mirror.host}/f/one:v1"]):
            images = [argument for reference in references + extra for argument in ("--image", reference)]
            lines = self.plan("--from", self.upstream.host, *images).stdout
            self.run_lines(lines)
            self.assert_there(*images, platforms=BOTH[:1])
            # A tag that is asked for by itself is nothing but that tag.
            got = json.loads(world.imgcheck("check", *self.plain, "--format", "json", "--image", f"{self.mirror.host}/f/one:v1").stdout)
            self.assertIn(got["images"][0]["digest"], [moved] if extra else pinned, lines)
            shutil.rmtree(self.mirror.storage / "docker/registry/v2/repositories/f")

    def test_what_is_not_known_is_not_hidden(self):
        bad = self.folder / "bad.yaml"
        bad.write_text("a: [\n", encoding="utf-8")
        missing = ("--image", f"{self.mirror.host}/x:1", "--from", "a.b")
        for arguments, status in (((bad,), 5), (("--plain-http", "127.0.0.1:1", "--image", "127.0.0.1:1/x:1"), 4), (("--image", "No/Ref"), 1)):
            done = self.plan(*missing, *arguments, status=status)
            self.assertIn(f"docker://a.b/x:1 docker://{self.mirror.host}/x:1", done.stdout)
            self.assertNotEqual(done.stderr, "")
        for arguments in (("--from", "https://a"), ("--from", "a/"), ("--from", "a.b/Up"), ("--from", "a'b"), ("--from", "x"), ("--only", "amd64"), ("--only", "linux//v8"), ("--only", "linux/a b"), ("--format", "text"), ()):
            self.assertEqual(world.imgcheck("plan", *arguments).returncode, 2, arguments)
