# SPDX-License-Identifier: Apache-2.0
"""The commands: what they print, and their exit statuses."""

import json

import trees
from command import CommandTest
from support.badserver import refused
from support.snaptree import architecture

LIST = """apiVersion: v1
kind: Pod
metadata: {name: p, namespace: ns}
spec:
  initContainers: [{name: b, image: "{{ registry|default('docker.io') }}/b:v1", imagePullPolicy: Never}]
  containers: [{name: a, image: host.example:5000/a:v1, args: ["--helper=host.example/helper:v2"]}]
"""


class Usage(CommandTest):
    def test_help_and_version(self):
        self.assertRegex(self.run_it("--version").stdout, r"^imgcheck \d+\.\d+\.\d+\n$")
        self.assertIn("guard", self.run_it("--help").stdout)
        for command in ("images", "render", "check", "guard", "diff", "audit", "plan", "explain", "report", "hook"):
            done = self.run_it(command, "--help")
            self.assertTrue(done.stdout.startswith(f"usage: imgcheck {command} "), done.stdout)
            self.assertEqual(done.stderr, "")
        self.run_it("hook", "pre-refresh", "--help")
        for flag in ("--registry", "--plain-http", "--platform", "--warn", "--authfile"):
            self.assertIn(f"\n  {flag}", self.run_it("check", "--help").stdout)

    def test_mistakes_are_one_line(self):
        bad = (
            (), ("nonsense",), ("--nonsense",), ("images",), ("images", "--nonsense", "x"), ("images", "--class", "some", "x"),
            ("images", "--format", "xml", "x"), ("images", "--set", "novalue", "x"), ("images", "--values", "nowhere.json", "x"),
            ("images", "--snap-config", "x"), ("render",), ("render", "a", "b"), ("check",), ("check", "--warn", "nothing", "x"),
            ("check", "--depth", "deep", "x"), ("check", "--authfile", "nowhere.json", "x"), ("check", "--cacert", "nowhere", "x"),
            ("check", "--registry", "http://a", "x"), ("check", "--creds", "nocolon", "x"),
            ("check", "--creds", "u:p", "x"), ("check", "--format", "xml", "x"),
            ("guard", "x"), ("guard", "x", "--"), ("guard", "--veto-status", "256", "x", "--", "true"), ("hook",), ("hook", "nonsense"),
            ("images", "--arch", "a,,b", "x"), ("images", "--key", "a b", "x"), ("diff",), ("diff", "a"), ("diff", "a", "b", "c"),
            ("diff", "--format", "xml", "a", "b"), ("diff", "--class", "some", "a", "b"), ("audit",), ("audit", "list"),
            ("audit", "--format", "xml", "a", "b"), ("audit", "--class", "some", "a", "b"),
            ("images", "--arch", ",".join(f"a{i}" for i in range(33)), "x"),
            ("check", "--format", "json", "--quiet", "x"), ("plan",), ("plan", "--format", "xml", "x"), ("plan", "--from", "a/", "x"),
            ("explain", "--format", "html", "x"), ("report",), ("report", "a", "b"), ("report", "--format", "xml"),
        )
        for arguments in bad:
            with self.subTest(arguments):
                done = self.run_it(*arguments, status=2)
                self.assertEqual((done.stdout, done.stderr.count("\n")), ("", 1), done.stderr)
                self.assertTrue(done.stderr.startswith("imgcheck: "), done.stderr)


class Images(CommandTest):
    def test_prints_references_sorted_and_once(self):
        path = self.write("a.yaml", LIST + "---\n" + LIST)
        self.run_it("images", path, status=0)
        done = self.run_it("images", "--set", "registry=r.example", path)
        self.assertEqual(done.stdout.split(), ["host.example/helper:v2", "host.example:5000/a:v1", "r.example/b:v1"])
        done = self.run_it("images", "--class", "required", "--set", "registry=r.example", path)
        self.assertEqual(done.stdout.split(), ["host.example:5000/a:v1", "r.example/b:v1"])

    def test_values_of_a_file_and_of_the_command_line(self):
        path = self.write("a.yaml", LIST)
        values = self.write("values.json", '{"registry": "from.file", "other": 1}')
        self.assertIn("from.file/b:v1", self.run_it("images", "--values", values, path).stdout)
        self.assertIn("set.here/b:v1", self.run_it("images", "--values", values, "--set", "registry=set.here", path).stdout)
        bad = self.write("bad.json", '{"registry": ')
        self.assertIn("bad.json", self.run_it("images", "--values", bad, path, status=2).stderr)

    def test_json_tells_places(self):
        path = self.write("a.yaml", LIST)
        answer = json.loads(self.run_it("images", "--format", "json", "--set", "x=y", path).stdout)
        image = next(image for image in answer["images"] if image["reference"] == "docker.io/b:v1")
        self.assertEqual(image["origins"], [{
            "file": str(path), "line": 5, "object": "Pod ns/p", "path": "spec.initContainers[0].image", "class": "required",
            "pullPolicy": "Never", "namespace": "ns"}])

    def test_json_tells_secrets_and_the_node(self):
        path = self.write("a.yaml", """\
apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  imagePullSecrets: [{name: one}, {name: two}]
  nodeSelector: {kubernetes.io/arch: arm64}
  containers: [{name: c, image: "host.example/a:v1"}]
""")
        image = json.loads(self.run_it("images", "--format", "json", path).stdout)["images"][0]
        self.assertEqual(image["origins"], [{
            "file": str(path), "line": 7, "object": "Pod p", "path": "spec.containers[0].image", "class": "required",
            "pullPolicy": None, "pullSecrets": "one two", "nodeArch": "arm64"}])

    def test_standard_input(self):
        done = self.run_it("images", "--arch", "amd64,arm64", "--set", "registry=r", "-", stdin=LIST)
        self.assertEqual(done.stdout.split(), ["host.example/helper:v2", "host.example:5000/a:v1", "r/b:v1"])
        self.assertIn("standard input:", self.run_it("images", "-", stdin="a: [", status=5).stderr)
        for nothing in ("", "\n", "# what helm printed\n", "Not Found"):
            for command in ("images", "check"):
                self.run_it(command, "-", stdin=nothing, status=5)

    def test_a_folder_without_manifests(self):
        self.write("folder/README.md", "image: r.example/a:1")
        for command in ("images", "check"):
            self.run_it(command, self.folder / "folder", status=5)

    def test_a_list_reads_back(self):
        path = self.write("a.yaml", LIST.replace("{{ registry|default('docker.io') }}", "docker.io"))
        listed = self.run_it("images", "--format", "list", path).stdout
        self.assertEqual(listed.count("\n"), 1)
        again = self.write("images.txt", listed)
        self.assertEqual(self.run_it("images", f"{again}#images").stdout, self.run_it("images", path).stdout)

    def test_what_is_no_reference_is_told(self):
        path = self.write("a.yaml", "kind: Pod\nspec:\n  containers:\n  - image: $IMAGE\n  - image: a.b/c:d\n")
        done = self.run_it("images", path)
        self.assertEqual(done.stdout, "a.b/c:d\n")
        self.assertIn(f"{path}:4", done.stderr)

    def test_what_cannot_be_read_is_told_and_the_rest_counts(self):
        self.write("d/a.yaml", "kind: Pod\nspec: {containers: [{image: a.b/c:d}]}\n")
        bad = self.write("d/b.yaml", "a: [\n")
        done = self.run_it("images", self.folder / "d", status=5)
        self.assertEqual(done.stdout, "a.b/c:d\n")
        self.assertIn(str(bad), done.stderr)
        self.run_it("images", self.folder / "nowhere", status=5)

    def test_a_target(self):
        description = trees.DESCRIPTION + "  arch: {config: arch, default: {env: SNAP_ARCH}}\n"
        self.write("snap/meta/imgcheck.yaml", description)
        self.write("snap/templates/a.yaml", trees.pods("{{ registry }}/a-{{ arch }}:v1"))
        config = self.write("config.json", '{"registry": "r.example", "kubeconfig": "x", "imgcheck": {"mode": "warn"}}')
        self.environment["SNAP_ARCH"] = "s390x"
        self.assertEqual(self.run_it("images", "--target", "snap", "--snap-config", config).stdout, "r.example/a-s390x:v1\n")
        numbers = self.write("numbers.json", '{"registry": "r.example", "kubeconfig": 12345678901234567890, "arch": 1.10}')
        self.assertEqual(self.run_it("images", "--target", "snap", "--snap-config", numbers).stdout, "r.example/a-1.10:v1\n")
        for text in ("{1.5: 2}", '{"a": 01.5}', '{"a": 1.}', '{"a": 1e999}', '{"a": "', '{"a": 1.5'):
            self.run_it("images", "--target", "snap", "--snap-config", self.write("bad.json", text), status=2)
        del self.environment["SNAP_ARCH"]
        done = self.run_it("images", "--target", "snap", "--snap-config", config)
        self.assertEqual(done.stdout, f"r.example/a-{architecture()}:v1\n")
        self.write("old/meta/imgcheck.yaml", description)
        self.write("old/templates/a.yaml", trees.pods("{{ registry }}/a-{{ arch }}:v1", "{{ registry }}/gone:v1"))
        self.write("snap/templates/b.yaml", trees.pods("{{ registry }}/b:v1"))
        new = ("images", "--target", "snap", "--snap-config", config, "--new-since")
        self.assertEqual(self.run_it(*new, "old").stdout, "r.example/b:v1\n")
        self.assertEqual(self.run_it(*new, self.write("list.txt", "r.example/b:v1\n")).stdout.count("\n"), 1)
        self.assertIn("nowhere", self.run_it(*new, "nowhere").stderr)
        (self.folder / "snap/templates/b.yaml").unlink()
        empty = self.write("empty.json", "{}")
        done = self.run_it("images", "--target", "snap", "--snap-config", empty)
        self.assertEqual(done.stdout, "")
        self.assertIn("not set up", done.stderr)
        self.assertIn("--snap-config", self.run_it("images", "--target", "snap", status=2).stderr)
        self.run_it("images", "--target", "snap", "--snap-config", self.write("bad.json", "[]"), status=2)
        self.run_it("images", "--target", "nowhere", "--snap-config", config, status=5)
        self.write("snap/meta/imgcheck.yaml", description + "surprise: 1\n")
        self.assertIn("surprise", self.run_it("images", "--target", "snap", "--snap-config", config, status=5).stderr)


class Render(CommandTest):
    def test_renders(self):
        path = self.write("t", "{% if a %}\n  {{ a }}-{{ b|default('c') }}\n{% endif %}\n")
        values = self.write("v.json", '{"a": "x"}')
        self.assertEqual(self.run_it("render", "--values", values, path).stdout, "\n  x-c\n")
        bad = self.write("bad", "\n{{ a|nosuchfilter }}\n")
        self.assertIn(f"{bad}:2", self.run_it("render", "--values", values, bad, status=5).stderr)
        self.run_it("render", "--values", values, self.folder / "nowhere", status=5)


class Check(CommandTest):
    """Without a registry: what is wrong before one is asked, or when none is there."""

    def setUp(self):
        super().setUp()
        self.host = refused()
        self.good = self.write("good.yaml", trees.pods(f"{self.host}/a:v1"))
        self.bad = self.write("bad.yaml", "a: [\n")

    def check(self, *arguments, status):
        return self.run_it("check", "--deadline", 10, "--plain-http", self.host, *arguments, status=status)

    def test_statuses(self):
        invalid = ("--image", "No/Reference")
        self.check(self.good, status=4)
        self.check("--warn", "undecided", self.good, status=0)
        self.check(*invalid, status=1)
        self.check("--warn", "missing", *invalid, status=0)
        self.check(self.bad, status=5)
        self.check("--warn", "unreadable", self.bad, status=0)
        self.check(self.good, *invalid, status=1)
        self.check(self.good, self.bad, *invalid, status=5)
        self.check("--warn", "unreadable,missing", self.good, self.bad, *invalid, status=4)
        self.check("--warn", "unreadable", "--warn", "undecided", self.good, self.bad, *invalid, status=1)

    def test_a_proxy_that_cannot_be_used_is_no_reason_to_ask_directly(self):
        for proxy in ("ftp://user:hunter2@proxy:1", "http://user:hunter2@[bad"):
            self.assertNotIn("hunter2", self.check("--proxy", proxy, self.good, status=2).stderr)

    def test_logins_where_none_belongs_are_not_repeated(self):
        image = f"user:hunter2@{self.host}/a:1"
        path = self.write("login.yaml", f"kind: Pod\nspec: {{containers: [{{image: '{image}'}}]}}\n")
        for arguments, status in ((("--registry", f"user:hunter2@{self.host}", self.good), 2), (("--image", image), 1), ((path,), 0)):
            done = self.check(*arguments, status=status)
            self.assertNotIn("hunter2", done.stdout + done.stderr)
            self.assertIn("***" if status < 2 else "auth file", done.stdout + done.stderr)

    def test_formats(self):
        report = json.loads(self.check("--format", "json", self.good, status=4).stdout)
        self.assertEqual((report["decision"], report["counts"]), ("veto", {"ok": 0, "undecided": 1}))
        text = self.check(self.good, status=4).stdout
        self.assertIn(f"{self.host}/a:v1", text)

    def test_values_of_the_command_line_count_before_those_of_a_target(self):
        self.write("snap/meta/imgcheck.yaml", trees.DESCRIPTION)
        self.write("snap/templates/a.yaml", trees.pods("{{ registry }}/a:v1"))
        target = ("--target", "snap", "--snap-config", self.write("config.json", '{"registry": "old.example", "kubeconfig": "x"}'))
        values = self.write("values.json", '{"registry": "of.values"}')
        rows = (((), "old.example"), (("--set", "registry=set.example"), "set.example"), (("--values", values), "of.values"))
        for arguments, registry in rows:
            self.assertEqual(self.run_it("images", *target, *arguments).stdout, f"{registry}/a:v1\n")
        report = json.loads(self.check("--format", "json", *target, "--registry", f"{self.host}/x", status=4).stdout)
        self.assertEqual([image["reference"] for image in report["images"]], [f"{self.host}/x/a:v1"])

    def test_a_target_with_the_settings_of_its_snap(self):
        self.write("snap/meta/imgcheck.yaml", trees.DESCRIPTION)
        self.write("snap/templates/a.yaml", trees.pods("{{ registry }}/a:v1"))
        config = {"registry": f"{self.host}/x", "kubeconfig": "x", "imgcheck": {"plain-http": self.host}}
        path = self.write("config.json", json.dumps(config))
        report = json.loads(self.run_it("check", "--format", "json", "--target", "snap", "--snap-config", path, status=4).stdout)
        self.assertEqual([image["reference"] for image in report["images"]], [f"{self.host}/x/a:v1"])
        config["imgcheck"]["on-undecided"] = "warn"
        path.write_text(json.dumps(config), encoding="utf-8")
        self.run_it("check", "--target", "snap", "--snap-config", path, status=0)
        self.run_it("check", "--target", "snap", "--snap-config", path, "--on-undecided", "veto", status=4)
        config = {"imgcheck": {"mode": "wran"}}
        path.write_text(json.dumps(config), encoding="utf-8")
        done = self.run_it("check", "--target", "snap", "--snap-config", path)
        self.assertIn("imgcheck.mode=wran", done.stderr)
        self.assertIn("not set up", done.stderr)

    def test_the_registry_is_a_template_value_too(self):
        path = self.write("t.yaml", trees.pods("{{ registry }}/a:v1"))
        report = json.loads(self.check("--registry", f"{self.host}/y", "--format", "json", path, status=4).stdout)
        self.assertEqual([image["reference"] for image in report["images"]], [f"{self.host}/y/a:v1"])

    def test_an_auth_file_that_the_environment_names(self):
        self.environment["REGISTRY_AUTH_FILE"] = str(self.write("auth.json", "{"))
        self.assertIn("auth.json", self.check(self.good, status=2).stderr)


class Guard(CommandTest):
    def guard(self, *arguments, status):
        return self.run_it("guard", *arguments, status=status)

    def test_runs_the_command_only_if_the_check_passes(self):
        missing, empty = ("--image", "No/Reference"), self.write("empty.yaml", "kind: None\n")
        done = self.guard(*missing, "--", "echo", "ran", status=125)
        self.assertEqual(done.stdout, "")
        self.assertIn("No/Reference", done.stderr)
        self.assertEqual(done.stderr.splitlines()[-1], "imgcheck: echo was not run")
        self.guard(*missing, "--veto-status", 0, "--", "echo", "ran", status=0)
        self.guard(*missing, "--veto-status", "7", "--", "echo", "ran", status=7)
        self.assertEqual(self.guard(empty, "--", "printf", "%s", "--version", status=0).stdout, "--version")
        self.assertEqual(self.guard(*missing, "--warn", "missing", "--", "echo", "ran", status=0).stdout, "ran\n")
        self.guard(empty, "--", "sh", "-c", "exit 9", status=9)
        self.guard(empty, "--", "/nonexistent", status=127)
        self.guard(empty, "--", self.folder, status=126)
        for command, status in (("/nonexistent", 127), (self.folder, 126)):  # after what the check had is given back
            self.guard("--registry", "registry.invalid:5000/x", empty, "--", command, status=status)
        self.guard("--depth", "deep", *missing, "--veto-status", 0, "--", "echo", "ran", status=2)

    def test_in_a_snap_the_settings_hold(self):
        tree = trees.Tree(self.folder / "machine")
        tree.add("1", "{{ registry }}/a:v1")
        host = refused()
        tree.set_current("1")
        self.environment = tree.environment()
        arguments = ("--target", tree.snap / "1", "--veto-status", "99", "--", "echo", "ran")
        for settings, status, printed in (({}, 99, ""), ({"mode": "warn"}, 99, ""), ({"mode": "off"}, 0, "ran\n"),
                                          ({"on-undecided": "warn"}, 0, "ran\n")):
            with self.subTest(settings):
                tree.configure({"kubeconfig": "x", "registry": host, "imgcheck": {"plain-http": host, "deadline": 10} | settings})
                self.assertEqual(self.guard(*arguments, status=status).stdout, printed)
        tree.configure({"kubeconfig": "x", "registry": host})
        self.assertEqual(self.guard(*arguments, status=99).stderr.splitlines()[-1],
                         "imgcheck: echo was not run; to run it unchecked:  snap set toy imgcheck.mode=off")
        tree.configure({})
        done = self.guard(*arguments, status=0)
        self.assertEqual(done.stdout, "ran\n")
        self.assertIn("not set up", done.stderr)
        tree.replace_snapctl("exit 1")
        self.assertIn("echo was not run", self.guard(*arguments, status=70).stderr)

    def test_a_registry_that_the_hooks_have_proven_counts(self):
        tree = trees.Tree(self.folder / "machine")
        tree.add("1", "{{ registry }}/a:v1")
        tree.set_current("1")
        host, proven = refused(), tree.common / "imgcheck" / "proven-hosts"
        proven.parent.mkdir()
        self.environment = tree.environment()
        tree.configure({"kubeconfig": "x", "registry": host, "imgcheck": {"plain-http": host, "deadline": 10, "on-unproven": "warn"}})
        for hosts, status in (("", 0), ("other:5000\n", 0), (f"{host}\n", 1), (f"no host\n{host}\n", 1)):
            with self.subTest(hosts):
                proven.write_text(hosts, encoding="utf-8")
                done = self.guard("--target", tree.snap / "1", "--veto-status", "1", "--", "echo", "ran", status=status)
                self.assertEqual("list of proven hosts" in done.stderr, "no host" in hosts)


class Report(CommandTest):
    def test_prints_the_last_one(self):
        text = json.dumps({"version": 1, "decision": "veto", "hook": {"text": "one\ntwo\n"}})
        self.write("common/imgcheck/last-report.json", text)
        self.environment["SNAP_COMMON"] = str(self.folder / "common")
        self.assertEqual(self.run_it("report").stdout, "one\ntwo\n")
        self.assertEqual(self.run_it("report", "--format", "json").stdout, text)
        other = self.write("other.json", "{}")
        self.run_it("report", other, status=5)
        self.run_it("report", self.folder / "nowhere", status=5)
