# SPDX-License-Identifier: Apache-2.0
"""Releases compared with each other and with published lists: diff, audit, images for several architectures."""

import json
import pathlib
import re
import shutil
import subprocess
import unittest

import trees
from command import CommandTest
from support import ROOT

CORPUS = ROOT.parent / "shared" / "corpus"
DESCRIPTION = ROOT / "tests" / "data" / "target" / "cdk-addons" / "imgcheck.yaml"
ARCHS = "amd64,arm64,ppc64el,s390x"
# What the templates of cdk-addons want besides the registry and the architecture.
VALUES = {"base_metrics_server_cpu": "40m", "base_metrics_server_memory": "40Mi", "metrics_server_memory_per_node": "4",
          "metrics_server_min_cluster_size": "16", "cluster_tag": "kubernetes-abc",
          "pillar": {"dns_domain": "cluster.local", "dns_memory_limit": "170Mi", "num_nodes": 3}}


def refs_of(path):
    return set(path.read_text(encoding="utf-8").split())


def mark_of(ref):
    """(repository, tag and digest) of a reference."""
    return re.fullmatch(r"(.*?)((?::[\w.-]+)?(?:@[\w:]+)?)", ref).groups()


def read_json(text):
    """The references that only the old and only the new side has, by the JSON format."""
    answer = json.loads(text)
    old = {image["reference"] for image in answer["removed"]}
    new = {image["reference"] for image in answer["added"]}
    for change in answer["changed"] + answer["repinned"]:
        old |= {image["reference"] for image in change["from"]}
        new |= {image["reference"] for image in change["to"]}
    return old, new


def read_text(text):
    old, new = set(), set()
    for line in text.splitlines()[:-1]:
        kind, name, *rest = line.split(" (")[0].split(maxsplit=2)
        if kind in ("added", "removed"):
            (new if kind == "added" else old).add(name)
        else:
            for side, marks in zip((old, new), rest[0].split(" -> ")):
                side |= {f"{name}:{mark}" for mark in marks.split(", ")}
    return old, new


def read_markdown(text):
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    old, new = set(), set()
    for row in rows:
        name, *cells = [re.findall(r"`([^`]*)`", cell) for cell in row.strip("|").split("|")]
        for side, cell in zip((old, new), cells):
            side |= {f"{name[0]}:{mark}" for mark in cell}
    return old, new


def read_list(text):
    lines = dict(line.split(": ", 1) for line in text.splitlines())
    return set(lines.get("removed", "").split()), set(lines.get("added", "").split())


FORMATS = {"json": read_json, "text": read_text, "markdown": read_markdown, "list": read_list}


class Diff(CommandTest):
    def diff(self, *arguments, status=1):
        return self.run_it("diff", *arguments, status=status)

    def test_every_kind_of_change(self):
        one, two = "sha256:" + "1" * 64, "sha256:" + "2" * 64
        old = self.write("old.txt", f"a.b/same:1\na.b/gone:1\na.b/c:1\na.b/c:2\na.b/c:3\nbusybox\na.b/p:1@{one}\na.b/q@{one}\na.b/bare\n")
        new = self.write("new.txt", f"a.b/same:1\na.b/new:1\na.b/c:2\na.b/c:4\ndocker.io/library/busybox:latest\na.b/p:1@{two}\na.b/q@{two}\n"
                                    "a.b/bare:v2\n")
        self.assertEqual(self.diff(old, new).stdout.splitlines(), [
            "added     a.b/new:1",
            "removed   a.b/gone:1",
            "changed   a.b/bare latest -> v2",
            "changed   a.b/c 1, 3 -> 4",
            f"changed   a.b/q {one} -> {two}",
            f"repinned  a.b/p 1@{one} -> 1@{two}",
            "1 added, 1 removed, 3 changed, 1 repinned, 3 unchanged"])
        answer = json.loads(self.diff("--format", "json", old, new).stdout)
        self.assertEqual((answer["old"], answer["new"], answer["unchanged"]), (str(old), str(new), 3))
        self.assertEqual(answer["repinned"], [{
            "repository": "a.b/p", "from": [{"reference": f"a.b/p:1@{one}", "class": "required"}],
            "to": [{"reference": f"a.b/p:1@{two}", "class": "required"}]}])
        for name in ("text", "json", "markdown", "list"):
            self.assertIn("a.b/new", self.diff("--format", name, old, new).stdout)
            done = self.diff("--format", name, old, old, status=0)
            self.assertNotIn("a.b/", done.stdout)

    def test_classes_and_architectures(self):
        pod = "kind: Pod\nspec: {{containers: [{{image: '{}', args: ['--x={}']}}]}}\n"
        old = self.write("old.yaml", pod.format("r/a-{{ arch }}:1", "r/m:1"))
        new = self.write("new.yaml", pod.format("r/a-{{ arch }}:{% if arch == 's390x' %}1{% else %}2{% endif %}", "r/m:2"))
        done = self.diff("--arch", "amd64,s390x", old, new)
        self.assertEqual(done.stdout.splitlines(), ["changed   r/a-amd64 1 -> 2 (only amd64)", "changed   r/m 1 -> 2 (mentioned)",
                                                    "0 added, 0 removed, 2 changed, 0 repinned, 1 unchanged"])
        answer = json.loads(self.diff("--arch", "amd64,s390x", "--format", "json", old, new).stdout)
        self.assertEqual([(change["to"][0]["class"], change["to"][0]["architectures"]) for change in answer["changed"]],
                         [("required", ["amd64"]), ("mentioned", ["amd64", "s390x"])])
        self.assertNotIn("r/m", self.diff("--class", "required", "--arch", "amd64,s390x", old, new).stdout)
        # The same reference on other architectures is a change of these alone.
        new = self.write("some.yaml", "{% if arch == 'amd64' %}" + pod.format("r/a-amd64:1", "r/m:1") + "{% endif %}\n")
        self.assertEqual(self.diff("--arch", "amd64,s390x", old, new).stdout.splitlines()[:-1],
                         ["removed   r/a-s390x:1 (only s390x)", "removed   r/m:1 (mentioned; only s390x)"])

    def test_a_list_is_for_all_architectures(self):
        tree = self.write("tree.yaml", trees.pods("r/a-{{ arch }}:1", "r/{% if arch == 'amd64' %}b:1{% else %}b:2{% endif %}", "r/c:1"))
        same = self.write("same.txt", "r/a-amd64:1\nr/a-arm64:1\nr/b:1\nr/b:2\nr/c:1\n")
        other = self.write("other.txt", "r/a-amd64:2\nr/a-{{ arch }}:1\nr/b:1\nr/b:3\nr/c:2\nr/d-amd64:1\n")
        for old, new in ((same, tree), (tree, same), (same, same)):
            self.assertEqual(self.diff("--arch", "amd64,arm64", old, new, status=0).stdout, "0 added, 0 removed, 0 changed, 0 repinned, 5 unchanged\n")
        expected = ["added     r/a-amd64:2", "added     r/d-amd64:1", "changed   r/b 2 -> 3 (only arm64)", "changed   r/c 1 -> 2"]
        self.assertEqual(self.diff("--arch", "amd64,arm64", tree, other).stdout.splitlines()[:-1], expected)
        moved = self.write("moved.txt", "r/a-amd64:2\nr/a-arm64:2\nr/b:1\nr/b:2\nr/c:1\n")
        self.assertEqual(self.diff("--arch", "amd64,arm64", tree, moved).stdout.splitlines()[:-1],
                         ["changed   r/a-amd64 1 -> 2 (only amd64)", "changed   r/a-arm64 1 -> 2 (only arm64)"])

    def test_what_cannot_be_read_is_never_equal(self):
        good = self.write("good.txt", "a.b/c:1\n")
        bad = self.write("bad.yaml", "a: [\n")
        self.assertIn(str(bad), self.diff(good, bad, status=5).stderr)
        self.diff(bad, good, status=5)
        self.diff(good, self.folder / "nowhere", status=5)
        self.diff(good, f"{good}#nokey", status=5)

    def test_markup_in_names_stays_text(self):
        old, new = self.write("a|b_<c>.txt", "a.b/c:1\n"), self.write("new.txt", "a.b/c:2\n")
        shown = self.diff("--format", "markdown", old, new).stdout
        self.assertIn("a\\|b\\_\\<c\\>.txt", shown)

    def test_snaps(self):
        for name, tag in (("one", "v1"), ("two", "v2")):
            self.write(f"{name}/meta/imgcheck.yaml", trees.DESCRIPTION + "  arch: {config: arch, default: {env: SNAP_ARCH}}\n")
            self.write(f"{name}/templates/a.yaml", trees.pods("{{ registry }}/a-{{ arch }}:" + tag))
            subprocess.run(["mksquashfs", self.folder / name, self.folder / f"{name}.snap", "-quiet", "-no-progress"],
                           check=True, capture_output=True)
        config = self.write("config.json", '{"registry": "r.example", "kubeconfig": "x", "arch": "riscv64"}')
        expected = ["changed   r.example/a-amd64 v1 -> v2 (only amd64)", "changed   r.example/a-arm64 v1 -> v2 (only arm64)"]
        for ends in (("one", "two"), ("one.snap", "two"), ("one.snap", "two.snap")):
            done = self.diff("--arch", "amd64,arm64", "--snap-config", config, *ends)
            self.assertEqual(done.stdout.splitlines()[:-1], expected)
        self.assertIn("riscv64 v1 -> v2", self.diff("--snap-config", config, "one", "two").stdout)
        self.assertIn("--snap-config", self.diff("one", "two", status=2).stderr)
        self.assertEqual([path.name for path in pathlib.Path(self.environment.get("TMPDIR", "/tmp")).glob("imgcheck-??????")
                          if (path / "templates").exists()], [])
        self.environment["PATH"] = "/nonexistent"
        self.assertIn("squashfs-tools", self.diff("--snap-config", config, "one.snap", "two", status=5).stderr)
        fixed = self.write("fixed/meta/imgcheck.yaml", "version: 1\npaths: [t]\nvalues: {arch: amd64}\n")
        self.write("fixed/t/a.yaml", trees.pods("r/a:v1"))
        self.assertIn("SNAP_ARCH", self.diff("--arch", "arm64", fixed.parent.parent, "two", "--snap-config", config, status=2).stderr)

    def test_a_snap_that_is_none(self):
        broken = self.folder / "broken.snap"
        broken.write_bytes(b"hsqs" + bytes(100))
        self.assertIn("cannot unpack", self.diff(broken, broken, status=5).stderr)
        self.write("plain/readme", "x\n")
        subprocess.run(["mksquashfs", self.folder / "plain", self.folder / "plain.snap", "-quiet", "-no-progress"], check=True,
                       capture_output=True)
        self.assertIn("meta/imgcheck.yaml", self.diff("plain.snap", "plain.snap", status=2).stderr)


class ImagesByArchitecture(CommandTest):
    TEMPLATE = "kind: Pod\nspec: {containers: [{image: 'r/a-{{ arch }}:1'}, {image: 'r/b:1'}]}\n"

    def test_expands(self):
        path = self.write("a.yaml", self.TEMPLATE)
        done = self.run_it("images", "--arch", "amd64,arm64", path)
        self.assertEqual(done.stdout.split(), ["r/a-amd64:1", "r/a-arm64:1", "r/b:1"])
        done = self.run_it("images", "--arch", "arm64", "--arch", "amd64", "--format", "list", "--key", "v1.2-upstream", path)
        self.assertEqual(done.stdout, "v1.2-upstream: r/a-amd64:1 r/a-arm64:1 r/b:1\n")
        answer = json.loads(self.run_it("images", "--arch", "amd64,arm64", "--format", "json", path).stdout)
        self.assertEqual({image["reference"]: image["architectures"] for image in answer["images"]},
                         {"r/a-amd64:1": ["amd64"], "r/a-arm64:1": ["arm64"], "r/b:1": ["amd64", "arm64"]})

    def test_names_that_cannot_be_right(self):
        path = self.write("a.yaml", self.TEMPLATE)
        done = self.run_it("images", "--arch", "amd64,ppc64el", path)
        self.assertIn("r/a-ppc64el:1", done.stdout)
        self.assertRegex(done.stderr, r"^imgcheck: r/a-ppc64el:1: .* r/a-ppc64le:1\n$")
        self.assertEqual(self.run_it("images", "--arch", "amd64,ppc64le,armhfx", path).stderr, "")

    def test_problems_are_told_once(self):
        path = self.write("a.yaml", self.TEMPLATE + "---\na: [\n")
        for arguments in ((), ("--format", "json")):
            done = self.run_it("images", "--arch", "amd64,arm64,s390x", *arguments, path, status=5)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertEqual(len(json.loads(done.stdout)["problems"]), 1)


class Audit(CommandTest):
    def audit(self, *arguments, status=1):
        return self.run_it("audit", *arguments, status=status)

    def test_missing_and_superfluous(self):
        manifest = self.write("m.yaml", "kind: Pod\nmetadata: {name: p}\nspec:\n  containers:\n  - image: r/a-{{ arch }}:1\n  - image: r/b:2\n"
                                        "  - image: r/c:1\n    args: [--x=r/mentioned:1]\n  metadata: {annotations: {x-image: 'r/hint:1'}}\n")
        list_ = self.write("list.txt", "static: r/z:1\nv1: r/a-amd64:1 r/a-ppc64le:1 r/b:1 r/c:1 r/unused:1\n")
        done = self.audit("--arch", "amd64,ppc64el", f"{list_}#v1", manifest)
        self.assertEqual(done.stdout.splitlines(), [
            f"missing     r/a-ppc64el:1 (only ppc64el): {manifest}:5 (Pod p); listed is r/a-ppc64le:1",
            f"missing     r/b:2: {manifest}:6 (Pod p); listed is r/b:1",
            f"missing     r/mentioned:1: {manifest}:8 (Pod p)",
            "superfluous r/a-ppc64le:1", "superfluous r/b:1", "superfluous r/unused:1",
            "3 missing, 3 superfluous, 2 needed and listed"])
        answer = json.loads(self.audit("--arch", "amd64,ppc64el", "--format", "json", f"{list_}#v1", manifest).stdout)
        self.assertEqual([(image["reference"], image["architectures"], image["listed"]) for image in answer["missing"]],
                         [("r/a-ppc64el:1", ["ppc64el"], ["r/a-ppc64le:1"]), ("r/b:2", ["amd64", "ppc64el"], ["r/b:1"]),
                          ("r/mentioned:1", ["amd64", "ppc64el"], [])])
        self.assertEqual(answer["missing"][0]["origins"][0]["line"], 5)
        self.assertEqual((answer["superfluous"], answer["listed"]), (["r/a-ppc64le:1", "r/b:1", "r/unused:1"], 2))
        done = self.audit("--arch", "amd64,ppc64el", "--format", "list", f"{list_}#v1", manifest)
        self.assertEqual(done.stdout, "missing: r/a-ppc64el:1 r/b:2 r/mentioned:1\nsuperfluous: r/a-ppc64le:1 r/b:1 r/unused:1\n")
        shown = self.audit("--arch", "amd64,ppc64el", "--format", "markdown", f"{list_}#v1", manifest).stdout
        self.assertEqual(re.findall(r"^- (\w+): `([^`]*)`", shown, re.M),
                         [("missing", "r/a-ppc64el:1"), ("missing", "r/b:2"), ("missing", "r/mentioned:1"),
                          ("superfluous", "r/a-ppc64le:1"), ("superfluous", "r/b:1"), ("superfluous", "r/unused:1")])
        self.assertIn("r/hint:1", self.audit("--class", "all", "--set", "arch=amd64", list_, manifest).stdout)

    def test_names_of_others_stay_in_their_line(self):
        self.write("m/a\x1b[31m\x9b\nb.yaml", 'kind: Pod\nmetadata: {name: "p\\e[31m\\x9b\\nsuperfluous r/z:1"}\n'
                                            "spec: {containers: [{image: 'r/a:1'}]}\n")
        list_ = self.write("list.txt", "r/b:1\n")
        done = self.audit(list_, "m")
        self.assertEqual(done.stdout.splitlines(), ["missing     r/a:1: m/a?[31m??b.yaml:3 (Pod p?[31m??superfluous r/z:1)",
                                                    "superfluous r/b:1", "1 missing, 1 superfluous, 0 needed and listed"])
        for command in (("audit", list_, "m"), ("images", "m"), ("diff", list_, "m")):
            done = self.run_it(*command, "--format", "json", status=0 if command[0] == "images" else 1)
            self.assertTrue(done.stdout.isascii() and "\x1b" not in done.stdout, done.stdout)
            json.loads(done.stdout)

    def test_what_is_listed_is_enough(self):
        manifest = self.write("m.yaml", trees.pods("docker.io/library/busybox:1", "r/a-{{ arch }}:1"))
        list_ = self.write("list.txt", "busybox:1\nr/a-{{ arch }}:1\nr/more:1\n")
        done = self.audit("--arch", "amd64,arm64", list_, manifest, status=0)
        self.assertEqual(done.stdout, "superfluous r/more:1\n0 missing, 1 superfluous, 3 needed and listed\n")
        bare = self.write("bare.txt", "library/busybox:1\n")
        self.assertIn("0 missing", self.audit("--prefix", "docker.io", bare, self.write("n.yaml", trees.pods("busybox:1")), status=0).stdout)

    def test_what_cannot_be_read(self):
        manifest = self.write("m.yaml", trees.pods("r/a:1"))
        list_ = self.write("list.txt", "v1: r/a:1\n")
        done = self.audit(f"{list_}#v2", manifest, status=5)
        self.assertIn("v2", done.stderr)
        self.assertIn("missing     r/a:1", done.stdout)
        self.audit(list_, self.write("bad.yaml", "a: [\n"), status=5)


@unittest.skipUnless(CORPUS.is_dir(), "../shared/corpus is not there")
class Corpus(CommandTest):
    def setUp(self):
        super().setUp()
        self.values = self.write("values.json", json.dumps(VALUES))

    def templates(self, release):
        return CORPUS / f"cdk-addons-{release}" / "templates"

    def snap(self, release):
        snap = self.folder / release
        (snap / "meta").mkdir(parents=True)
        shutil.copy(DESCRIPTION, snap / "meta")
        shutil.copytree(self.templates(release), snap / "templates")
        return snap

    def assert_differ(self, arguments, old, new):
        self.assertTrue(old - new and new - old)
        for name, read in FORMATS.items():
            with self.subTest(name):
                done = self.run_it("diff", "--format", name, *arguments, status=1)
                self.assertEqual(read(done.stdout), (old - new, new - old))

    def test_releases(self):
        for old, new in (("v1.28.2", "v1.28.3"), ("v1.21.4", "v1.22.1")):
            images = [refs_of(CORPUS / f"cdk-addons-{release}" / "images.txt") for release in (old, new)]
            with self.subTest(old):
                self.assert_differ(["--arch", "amd64", "--values", self.values, self.templates(old), self.templates(new)], *images)
        done = self.run_it("diff", "--arch", "amd64", "--values", self.values, self.templates("v1.28.2"), self.templates("v1.28.3"), status=1)
        self.assertIn("changed   nvcr.io/nvidia/k8s-device-plugin v0.14.0 -> v0.14.2\n", done.stdout)
        self.assertIn("0 added, 0 removed, 12 changed, 0 repinned, 12 unchanged", done.stdout)

    def test_snaps_by_configuration(self):
        snaps = [self.snap("v1.28.2"), self.snap("v1.28.3")]
        folders = [CORPUS / f"cdk-addons-{snap.name}" / "expected" for snap in snaps]
        for config in sorted(folders[1].glob("snapconfig.*.json")):
            images = [refs_of(folder / f"images.{config.name.split('.')[1]}.txt") for folder in folders]
            with self.subTest(config.name):
                if images[0] == images[1]:
                    self.run_it("diff", "--snap-config", config, *snaps, status=0)
                else:
                    self.assert_differ(["--snap-config", config, *snaps], *images)

    def test_published_lines(self):
        published = CORPUS / "_lists" / "container-images.txt"
        self.run_it("audit", "--arch", "amd64,arm64", "--values", self.values, f"{published}#v1.28.3-upstream", self.templates("v1.28.3"))
        listed = {line.split(":", 1)[0]: set(line.split()[1:]) for line in published.read_text(encoding="utf-8").splitlines()
                  if "{{" not in line}
        old, new = "v1.24-static", "v1.26-static"
        self.assertTrue(listed[old] and listed[new])
        self.assert_differ([f"{published}#{old}", f"{published}#{new}"], listed[old], listed[new])

    def test_a_line_for_the_bundle(self):
        """images --format list is the line that the bundle's list has, with the architectures written out."""
        listed = (CORPUS / "_lists" / "container-images.txt").read_text(encoding="utf-8")
        line = re.search(r"^v1\.28\.3-upstream: .*$", listed, re.M).group()
        expected = {line.replace("{{ arch }}", arch) for arch in ARCHS.split(",")}
        done = self.run_it("images", "--arch", ARCHS, "--values", self.values, "--format", "list", "--key", "v1.28.3-upstream",
                           self.templates("v1.28.3"))
        self.assertEqual(set(done.stdout.split()), set(" ".join(expected).split()))
        self.assertIn("addon-resizer-ppc64el:1.8.9: cannot be right", done.stderr)

    def test_the_mirror_lacks_ppc64el(self):
        """Every release checked: the addons render ppc64el, the published lists have ppc64le."""
        for release, prefix in (("v1.20.5", "rocks.canonical.com/cdk"), ("v1.26.0", None), ("v1.28.2", None), ("v1.28.3", None)):
            mirrored = CORPUS / f"cdk-addons-{release}" / f"mirrored-{release}.txt"
            done = self.run_it("audit", "--format", "json", "--arch", ARCHS, "--values", self.values, "--set",
                               "registry=rocks.canonical.com/cdk", *(["--prefix", prefix] if prefix else []), mirrored,
                               self.templates(release), status=1)
            missing = {image["reference"] for image in json.loads(done.stdout)["missing"]}
            with self.subTest(release):
                self.assertTrue(any("ppc64el" in ref for ref in missing), missing)
                listed = {f"{prefix}/{ref}" if prefix else ref for ref in refs_of(mirrored)}
                needed = self.run_it("images", "--arch", ARCHS, "--values", self.values, "--set", "registry=rocks.canonical.com/cdk",
                                     self.templates(release)).stdout.split()
                self.assertEqual(missing, set(needed) - listed)

    def test_a_release_whose_line_is_not_there(self):
        """v1.31.5 was mirrored from the static line alone: its -upstream line does not exist."""
        published = CORPUS / "_lists" / "container-images.txt"
        arguments = ("--arch", "amd64", "--values", self.values)
        done = self.run_it("audit", *arguments, f"{published}#v1.31.5-upstream", self.templates("v1.28.3"), status=5)
        self.assertIn("v1.31.5-upstream", done.stderr)
        self.assertIn("25 missing, 0 superfluous, 0 needed and listed", done.stdout)
        done = self.run_it("audit", *arguments, "--format", "json", f"{published}#v1.31-static", self.templates("v1.28.3"), status=1)
        missing = {image["reference"] for image in json.loads(done.stdout)["missing"]}
        (static,) = re.findall(r"^v1\.31-static: (.*)$", published.read_text(encoding="utf-8"), re.M)
        self.assertEqual(missing, refs_of(CORPUS / "cdk-addons-v1.28.3" / "images.txt") - set(static.split()))
        self.assertIn("docker.io/coredns/coredns:1.9.4", missing)

    def test_cert_manager_lacks_acmesolver(self):
        case = CORPUS / "kurl-cert-manager-1.21.0"
        (published,) = (case / "published").iterdir()
        lines = published.read_text(encoding="utf-8").splitlines()
        list_ = self.write("list.txt", "".join(line.split()[2] + "\n" for line in lines if line.startswith("image ")))
        done = self.run_it("audit", list_, case / "manifests", status=1)
        self.assertRegex(done.stdout, r"^missing     quay.io/jetstack/cert-manager-acmesolver:v1.21.0: \S+:\d+ \(Deployment [^)]*\)\n"
                                      r"1 missing, 0 superfluous, 3 needed and listed\n$")

    def test_the_worker_on_other_architectures(self):
        case = CORPUS / "charm-worker-ck-1.19"
        done = self.run_it("audit", "--arch", "s390x,ppc64el", "--values", self.values, "--format", "json", case / "published-static.txt",
                           case / "manifests", status=1)
        missing = {image["reference"].rsplit("/", 1)[-1] for image in json.loads(done.stdout)["missing"]}
        self.assertLessEqual({"registry-s390x:2.6", "microbot-ppc64el:latest", "registry-ppc64el:2.6"}, missing)
