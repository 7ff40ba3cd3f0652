# SPDX-License-Identifier: Apache-2.0
"""pre-refresh on fake snap trees: what is vetoed, what passes, and what is told."""

import contextlib
import os
import pathlib
import subprocess
import tempfile
import unittest

import trees
from support import built
from support.badserver import refused
from support.confined import without_network
from support.images import Client
from support.proxy import Proxy
from support.registry import Registry

_stack = contextlib.ExitStack()


def setUpModule():
    global _host, _client
    folder = _stack.enter_context(tempfile.TemporaryDirectory(prefix="imgcheck-hook-"))
    unittest.addModuleCleanup(_stack.close)
    _host = _stack.enter_context(Registry(pathlib.Path(folder) / "registry")).host
    _client = _stack.enter_context(Client(_host))


class Refresh(trees.TreeTest):
    """Revision 1 is installed; its image is there.  Revision 2 comes in and needs one that is not."""

    def setUp(self):
        super().setUp()
        self.registry = f"{_host}/{self.id().rsplit('.', 1)[-1].replace('_', '-')}"
        self.push("old:v1")
        self.tree.add("1", "{{ registry }}/old:v1", version="1.0")
        self.tree.set_current("1")
        self.configure(self.registry)

    def push(self, image):
        repository, tag = f"{self.registry.removeprefix(_host + '/')}/{image}".rsplit(":", 1)
        _client.push(repository, tag, ("linux/amd64", "linux/arm64"))

    def comes(self, *images, revision="2", **options):
        self.tree.add(revision, *images, version="2.0", **options)

    def test_a_missing_image_is_a_veto(self):
        self.comes("{{ registry }}/old:v1", "{{ registry }}/new:v1")
        output = self.refresh(1, f"{self.registry}/new:v1", "templates/pods.yaml:", "Pod pod-1", "toy revision 2 (2.0)",
                              "the refresh is stopped, nothing was changed", "imgcheck/last-report.json")
        self.assertIn("snap set toy imgcheck.accept-revision=2", output.splitlines()[-1])
        self.assertNotIn(f"{self.registry}/old:v1\n", output)
        report = self.tree.report()
        self.assertEqual((report["decision"], report["hook"]["result"]), ("veto", "vetoed"))
        self.assertEqual(report["hook"]["to"], [{"revision": "2", "version": "2.0"}])
        self.assertEqual(report["hook"]["text"], output)
        self.assertEqual(report["counts"]["missing"], 1)
        status = self.tree.status()
        self.assertEqual((status["result"], status["revision"], status["missing"]), ("vetoed", "2", "1"))
        self.assertEqual((self.tree.mode_of("last-report.json"), self.tree.mode_of("last-status")), (0o600, 0o644))
        self.assertNotIn(_host, (self.tree.common / "imgcheck" / "last-status").read_text(encoding="utf-8"))

    def test_an_image_that_is_there_passes_in_silence(self):
        self.comes("{{ registry }}/new:v1")
        self.push("new:v1")
        self.assertEqual(self.refresh(0), "")
        self.assertEqual(self.tree.report()["hook"]["result"], "allowed")
        self.assertEqual(self.tree.status()["ok"], "1")

    def test_what_was_missing_before_only_warns(self):
        self.tree.remove("1")
        self.tree.add("1", "{{ registry }}/gone:v1")
        self.comes("{{ registry }}/gone:v1", "{{ registry }}/old:v1")
        self.refresh(0, "gone:v1")
        report = self.tree.report()
        self.assertEqual(report["decision"], "warn")
        self.assertEqual(report["counts"]["already-missing"], 1)

    def test_accepting_the_revision_lets_it_pass(self):
        self.comes("{{ registry }}/new:v1")
        self.configure(self.registry, {"accept-revision": 2})
        self.refresh(0, "new:v1", "accept-revision")
        self.assertEqual(self.tree.report()["hook"]["result"], "allowed")
        self.configure(self.registry, {"accept-revision": 3})
        self.refresh(1)

    def test_modes(self):
        self.comes("{{ registry }}/new:v1")
        self.configure(self.registry, {"mode": "warn"})
        output = self.refresh(0, "new:v1", "the refresh goes on")
        self.assertNotIn("stopped", output)
        self.assertNotIn("accept-revision=", output)
        self.assertEqual(self.tree.report()["decision"], "veto")
        self.configure(self.registry, {"mode": "off"})
        self.refresh(0, "setting imgcheck.mode=off: no image was asked for")
        report = self.tree.report()
        self.assertEqual((report["hook"]["result"], report["hook"]["mode"], report["images"]), ("skipped", "off", []))

    def test_a_setting_that_cannot_be_used_changes_nothing_and_is_told(self):
        self.comes("{{ registry }}/new:v1")
        for settings in ({"mode": "wran"}, {"accept-revision": "next"}, {"on-missing": True}, {"nonsense": 1},
                         {"authfile": "../../etc/shadow"}, {"mode": "a\nb\x1b[31m\u00e4"}):
            with self.subTest(settings):
                self.configure(self.registry, settings)
                output = self.refresh(1, f"imgcheck.{next(iter(settings))}", "the refresh is stopped")
                self.assertTrue(output.isascii() and "\x1b" not in output)
        self.push("new:v1")
        self.assertEqual(self.refresh(0), "")
        self.assertEqual(len(self.tree.report()["hook"]["notices"]), 1)

    def test_policy_of_a_class(self):
        self.comes("{{ registry }}/new:v1")
        self.configure(self.registry, {"on-missing": "warn"})
        self.refresh(0, "new:v1")
        self.assertEqual(self.tree.status()["decision"], "warn")

    def test_booleans_compare_as_text(self):
        description = trees.DESCRIPTION.replace("paths:", "when:\n  - {files: pods.yaml, if: \"config['gpu'] == 'true'\"}\npaths:")
        self.comes("{{ registry }}/new:v1", description=description)
        folder = self.tree.snap / "2" / "templates"
        (folder / "always.yaml").write_text(trees.pods("{{ registry }}/old:v1"), encoding="utf-8")
        for gpu, expected in ((True, 1), ("true", 1), (False, 0), (None, 0)):
            with self.subTest(gpu):
                self.configure(self.registry, gpu=gpu)
                self.refresh(expected)

    def test_numbers_are_told_as_they_were_set(self):
        """snapd keeps their text: 1.10 is not 1.1, and one of twenty digits is nothing that cannot be read."""
        self.comes("{{ registry }}/new:{{ version }}", description=f"{trees.DESCRIPTION}  version: {{config: version}}\n")
        self.configure(self.registry, version="NUMBER", nested={"there": "NUMBER"}, text='"1.50')
        answer = self.folder / "answer"
        for number in ("1.10", "1.0", "1e5", "12345678901234567890", "0", "7", "123456789012345678"):
            with self.subTest(number):
                answer.write_text(self.tree.config_file.read_text(encoding="utf-8").replace('"NUMBER"', number), encoding="utf-8")
                self.tree.replace_snapctl(f"cat '{answer}'")
                self.refresh(1, f"{self.registry}/new:{number}\n")
                self.assertEqual([image["written"] for image in self.tree.report()["images"]], [f"{self.registry}/new:{number}"])

    def test_a_unit_that_is_not_set_up_is_skipped(self):
        self.comes("{{ registry }}/new:v1")
        for kubeconfig in (None, ""):
            self.configure(self.registry, kubeconfig=kubeconfig)
            self.refresh(0, "not set up")
            self.assertEqual(self.tree.report()["hook"]["result"], "skipped")

    def test_no_new_revision_passes(self):
        self.refresh(0, "no new revision")
        self.assertEqual(self.tree.status()["result"], "skipped")

    def test_a_description_that_is_a_link_to_nothing(self):
        self.comes("{{ registry }}/old:v1", description=None, hooks=("pre-refresh",))
        (self.tree.snap / "2" / "meta" / "imgcheck.yaml").symlink_to("nowhere")
        self.refresh(1, "meta/imgcheck.yaml: cannot read")

    def test_without_a_description_ours_is_used(self):
        self.comes("{{ registry }}/new:v1", description=None)
        self.refresh(1, "new:v1", "that of revision 1 was used")

    def test_without_any_description_nothing_is_known(self):
        self.tree.remove("1")
        self.tree.add("1", description=None)
        self.comes("{{ registry }}/new:v1", description=None)
        self.refresh(0, "there is no meta/imgcheck.yaml")
        self.assertEqual(self.tree.status()["result"], "skipped")

    def test_a_description_that_cannot_be_read_is_a_veto(self):
        for description in ("version: 1\npaths: [templates]\nsurprise: 1\n", "version: 2\n", "a: [", "paths: [nowhere]\nversion: 1\n"):
            with self.subTest(description):
                self.comes("{{ registry }}/old:v1", description=description, hooks=("pre-refresh",))
                self.refresh(1, "meta/imgcheck.yaml" if "nowhere" not in description else "nowhere", "the refresh is stopped")
                self.assertIn("unreadable", self.tree.status())
                self.tree.remove("2")

    def test_a_template_that_cannot_be_evaluated_is_a_veto(self):
        self.comes("{{ registry }}/old:v1", hooks=("pre-refresh",))
        (self.tree.snap / "2" / "templates" / "bad.yaml").write_text("a: {{ b|nosuchfilter }}\n", encoding="utf-8")
        self.refresh(1, "templates/bad.yaml", "nosuchfilter")
        self.configure(self.registry, {"on-unreadable": "warn"})
        self.refresh(0, "nosuchfilter")

    def test_a_registry_that_is_off(self):
        self.comes("{{ registry }}/new:v1")
        host = refused()
        self.configure(f"{host}/x")
        self.refresh(1, host, "the refresh is stopped")
        self.assertEqual(self.tree.status()["undecided"], "1")
        self.configure(f"{host}/x", {"on-undecided": "warn"})
        self.refresh(0, host)

    def answer_of_the_plug(self, script):
        """What snapctl says of the plug `network`."""
        self.tree.replace_snapctl(f'[ "$1" = is-connected ] && {{ {script}; }}; exec {self.tree.real_snapctl()} "$@"')

    def test_a_plug_that_is_missing_is_named(self):
        # Sockets are refused; what is to be done is another thing where the snap has the plug and the hook does not.
        self.comes("{{ registry }}/new:v1")
        self.tree.prepare = without_network
        missing = "the hook has no network: its plug is missing in snap.yaml of revision 1 (pre-refresh: plugs: [network])"
        no_plug = """echo 'error: snap "toy" has no plug or slot named "network"' >&2; exit 1"""
        for script, words in (("exit 1", "its plug is not connected (snap connect toy:network)"), ("exit 0", missing),
                              (no_plug, missing), ("echo 'error: no way' >&2; exit 1", "is missing or not connected")):
            with self.subTest(script):
                self.answer_of_the_plug(script)
                self.assertIn(words, self.refresh(1, "cannot reach").splitlines()[-1])

    def test_a_plug_is_not_blamed_where_there_is_a_network(self):
        self.comes("{{ registry }}/new:v1")
        self.answer_of_the_plug("exit 1")
        self.configure(f"{refused()}/x")
        self.assertNotIn("plug", self.refresh(1, "cannot reach"))

    def test_the_source_of_a_proxy_is_named(self):
        self.comes("{{ registry }}/new:v1")
        proxy = refused()
        self.configure("registry.invalid/x", {"plain-http": []})
        self.tree.proxies.write_text(f'https_proxy="http://user:hunter2@{proxy}"\n', encoding="utf-8")
        self.assertNotIn("hunter2", self.refresh(1, f"http://{proxy}", f"from {self.tree.proxies}"))
        self.tree.extra = {"HTTPS_PROXY": f"http://{proxy}"}
        self.refresh(1, "from the environment")
        self.configure("registry.invalid/x", {"plain-http": [], "proxy": {"https": f"http://{proxy}"}})
        self.refresh(1, "from setting imgcheck.proxy.https")

    @unittest.skipUnless(os.geteuid() == 0, "only root can give a proxy names of its own")
    def test_the_proxy_of_the_machine_is_used(self):
        name = _host.replace("127.0.0.1", "registry.test")
        self.push("new:v1")
        self.comes("{{ registry }}/new:v1")
        self.configure(self.registry.replace(_host, name))
        with Proxy(self.folder / "proxy", ["registry.test"]) as proxy:
            lines = f"PATH=/bin\nexport http_proxy='http://{proxy.host}'\n"
            self.tree.proxies.write_text(f"{lines}no_proxy=.other,registry.test\n", encoding="utf-8")
            self.refresh(1, name)  # the proxy alone knows the name
            self.assertEqual(proxy.requests(), [])
            self.tree.proxies.write_text(lines, encoding="utf-8")
            self.assertEqual(self.refresh(0), "")
            self.assertTrue(proxy.requests())
            for _, url in proxy.requests():
                self.assertTrue(url.startswith(f"http://{name}/v2/"), url)
            self.assertIn(f"http://{proxy.host} (from {self.tree.proxies})", "".join(self.tree.report()["hook"]["notices"]))

    @unittest.skipUnless(os.geteuid() == 0, "only root can make a namespace with an /etc of its own")
    def test_the_file_of_the_machine_is_etc_environment(self):
        """For a hook and for a command in a snap, whose surroundings lack it; elsewhere the environment has what counts."""
        (self.folder / "etc").mkdir()
        (self.folder / "etc" / "environment").write_text('http_proxy="http://127.0.0.1:1"\n', encoding="utf-8")
        inside = ["unshare", "--mount", "sh", "-c", 'mount -t overlay overlay -o lowerdir="$1":/etc /etc && shift && exec "$@"', "sh",
                  self.folder / "etc"]
        self.comes("{{ registry }}/new:v1")
        self.configure("registry.test:5000/x", {"plain-http": "registry.test:5000"})
        outside = {key: value for key, value in self.tree.environment().items() if not key.startswith("SNAP")}
        hook = [self.tree.snap / self.tree.current / "meta" / "hooks" / "pre-refresh", "--blobs", self.tree.blobs]
        check = [os.path.abspath(built("imgcheck")), "check", "--plain-http", "registry.test:5000", "--image", "registry.test:5000/a:v1"]
        for command, env, proxied in ((hook, self.tree.environment(), True), (check, self.tree.environment(), True),
                                      (check, outside, False)):
            with self.subTest(command=command[1], proxied=proxied):
                done = subprocess.run([*inside, *command], env=env, cwd="/", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                      stderr=subprocess.STDOUT, text=True, timeout=60, check=False)
                self.assertIn("registry.test:5000", done.stdout)
                (self.assertIn if proxied else self.assertNotIn)("127.0.0.1:1", done.stdout)

    def test_a_login_below_snap_common(self):
        self.comes("{{ registry }}/old:v1")
        self.configure(self.registry, {"authfile": "auth.json"})
        self.assertEqual(self.refresh(0), "")
        self.assertIn("imgcheck.authfile", self.tree.report()["hook"]["notices"][0])
        (self.tree.common / "auth.json").write_text('{"auths": {}}', encoding="utf-8")
        self.refresh(0)
        self.assertEqual(self.tree.report()["hook"]["notices"], [])

    def test_500_missing_images_end_with_verdict_and_remedy(self):
        self.comes(*(f"{{{{ registry }}}}/some/rather/long/name/of/an/image-{i:03}:v1.2.3" for i in range(500)))
        self.configure(f"{refused()}/x", {"mode": "bad"})
        self.tree.prepare = without_network
        self.answer_of_the_plug("exit 1")
        output = self.refresh(1, "cannot", "the refresh is stopped", "imgcheck.accept-revision=2", "imgcheck.mode=bad")
        self.assertLessEqual(len(output.splitlines()), 60)
        self.assertLessEqual(len(output), 8192)
        self.assertIn("snap connect", output.splitlines()[-1])
        self.assertEqual(len(self.tree.report()["images"]), 500)

    def test_a_report_that_cannot_be_written_is_told(self):
        self.comes("{{ registry }}/new:v1")
        state = self.tree.common / "imgcheck"
        state.write_text("in the way", encoding="utf-8")
        self.refresh(1, "new:v1", "report cannot be written")


class NewRevision(trees.TreeTest):
    """Which revision is judged, where the image of each tells it by its name."""

    def setUp(self):
        super().setUp()
        self.configure(refused(), {"on-undecided": "veto"})

    def judged(self):
        """The revisions that the last run judged."""
        self.refresh(1)
        images = sorted(image["reference"].rsplit("/", 1)[1] for image in self.tree.report()["images"])
        revisions = [item["revision"] for item in self.tree.report()["hook"]["to"]]
        self.assertEqual(images, sorted(f"of-{revision}:v1" for revision in revisions))
        return revisions

    def add(self, *revisions):
        for revision in revisions:
            self.tree.add(revision, f"{{{{ registry }}}}/of-{revision}:v1")

    def record(self, current):
        self.tree.set_current(current)
        self.after(0)

    def test_store_revisions_with_older_ones_retained(self):
        self.add("10", "11", "12")
        self.record("12")
        self.add("13")
        self.assertEqual(self.judged(), ["13"])

    def test_a_downgrade(self):
        self.add("10", "12")
        self.record("12")
        self.add("9")
        self.assertEqual(self.judged(), ["9"])

    def test_from_the_store_to_a_local_one_and_back(self):
        self.add("12")
        self.record("12")
        self.add("x1")
        self.assertEqual(self.judged(), ["x1"])
        self.record("x1")
        self.add("13")
        self.assertEqual(self.judged(), ["13"])

    def test_four_are_retained_and_an_older_one_comes(self):
        self.add("9", "11", "12", "14")
        self.record("14")
        self.add("13")
        self.assertEqual(self.judged(), ["13"])

    def test_after_a_revert_the_one_reverted_from_is_no_candidate(self):
        self.add("11", "12")
        self.record("12")
        self.tree.set_current("11")  # by snap revert, which runs no hook of these
        self.add("13")
        self.assertEqual(self.judged(), ["13"])

    def test_after_a_revert_the_same_one_again(self):
        self.add("11", "12")
        self.record("12")
        self.tree.set_current("11")
        self.assertEqual(self.judged(), ["12"])

    def test_one_of_several_that_are_kept(self):
        self.add("10", "11", "12")
        self.record("12")
        self.assertEqual(self.judged(), ["10", "11"])
        self.assertIn("not certain", self.tree.report()["hook"]["text"])

    def test_a_vetoed_revision_comes_again(self):
        self.add("12")
        self.record("12")
        for _ in range(2):
            self.add("13")
            self.assertEqual(self.judged(), ["13"])
            self.tree.remove("13")

    def test_no_record_the_newest_file_tells(self):
        self.add("11", "12", "13")
        self.tree.set_current("12")
        self.tree.blob("11", 10)
        self.tree.blob("13", 1000)
        self.assertEqual(self.judged(), ["11"])

    def test_not_certain_all_are_judged_and_it_is_told(self):
        self.add("11", "12", "13")
        self.tree.set_current("12")
        self.assertEqual(self.judged(), ["11", "13"])
        self.assertIn("not certain", self.tree.report()["hook"]["text"])
        self.assertIn("toy revision 11 (1.0) or 13 (1.0)", self.tree.report()["hook"]["text"])

    def test_stale_folders_and_components_do_not_count(self):
        self.add("12")
        self.record("12")
        self.add("13")
        (self.tree.snap / "14").mkdir()
        (self.tree.snap / "components" / "mnt").mkdir(parents=True)
        (self.tree.snap / "15" / "meta").mkdir(parents=True)
        (self.tree.snap / "15" / "meta" / "snap.yaml").write_text("name: other\n", encoding="utf-8")
        self.assertEqual(self.judged(), ["13"])

    def test_a_parallel_instance(self):
        self.tree.extra = {"SNAP_INSTANCE_NAME": "toy_blue", "SNAP_INSTANCE_KEY": "blue"}
        self.add("12", "13")
        self.tree.set_current("12")
        self.assertEqual(self.judged(), ["13"])
        self.assertIn("snap set toy_blue imgcheck.accept-revision=13", self.tree.report()["hook"]["text"])


