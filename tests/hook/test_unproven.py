# SPDX-License-Identifier: Apache-2.0
"""What a registry that never gave this unit an image may stop, and what is left to post-refresh."""

import contextlib
import pathlib
import tempfile
import unittest

import trees
from support import built
from support.badserver import refused
from support.images import Client
from support.registry import Registry, htpasswd_auth

_stack = contextlib.ExitStack()

USER, PASSWORD = "reader", "correct horse"
# bcrypt of PASSWORD with cost 4.
PASSWORD_HASH = "$2b$04$abcdefghijklmnopqrstuujydOTSfIH/d5oUHpsygqV5X9xJLQc6e"

POST_SCRIPT = """#!/bin/sh
# an addon's own hook
"$SNAP/bin/imgcheck" hook post-refresh || exit 1
"""


def setUpModule():
    global _open, _closed, _client
    folder = pathlib.Path(_stack.enter_context(tempfile.TemporaryDirectory(prefix="imgcheck-hook-")))
    unittest.addModuleCleanup(_stack.close)
    _open = _stack.enter_context(Registry(folder / "open")).host
    # The same images for whoever has a login.
    auth = htpasswd_auth(folder, {USER: PASSWORD_HASH})
    _closed = _stack.enter_context(Registry(folder / "closed", folder / "open" / "storage", auth)).host
    _client = _stack.enter_context(Client(_open))
    _client.push("x/new", "v1", ("linux/amd64", "linux/arm64"))


class Unproven(trees.TreeTest):
    """Revision 2 comes in and needs an image of a registry that refuses or is off."""

    def setUp(self):
        super().setUp()
        self.tree.add("1")
        self.tree.set_current("1")
        self.tree.add("2", "{{ registry }}/new:v1")

    def unproven(self, registry, settings=None):
        """As an operator has it who has set nothing of on-unproven."""
        self.configure(registry, {"on-unproven": None} | (settings or {}))

    def hosts(self):
        return (self.tree.common / "imgcheck" / "proven-hosts").read_text(encoding="utf-8").split()

    def test_a_refusal_only_warns_until_there_was_an_image(self):
        self.unproven(f"{_closed}/x")
        self.refresh(0, f"{_closed} never gave this unit an image", "imgcheck.authfile", "on-unproven", "nothing is stopped")
        self.assertEqual((self.tree.status()["decision"], self.tree.status()["access"]), ("warn", "1"))
        self.assertFalse((self.tree.common / "imgcheck" / "proven-hosts").exists())

        login = f'{{"auths": {{"{_closed}": {{"username": "{USER}", "password": "{PASSWORD}"}}}}}}'
        self.unproven(f"{_closed}/x", {"auth-json": login})
        self.assertEqual(self.refresh(0), "")
        self.assertEqual(self.hosts(), [_closed])
        self.assertEqual(self.tree.mode_of("proven-hosts"), 0o600)

        self.unproven(f"{_closed}/x")
        self.assertNotIn("never gave", self.refresh(1, "missing or no access", "the refresh is stopped"))

    def test_the_operator_may_want_it_to_count_at_once(self):
        self.unproven(f"{_closed}/x", {"on-unproven": "veto"})
        self.refresh(1, "the refresh is stopped")

    def test_a_registry_that_is_off_only_warns(self):
        self.unproven(f"{refused()}/x")
        self.refresh(0, "cannot reach", "never gave this unit an image")

    def test_an_image_of_the_same_run_proves_the_host(self):
        (self.tree.snap / "2" / "templates" / "more.yaml").write_text(
            trees.pods(f"{_closed}/x/new:v1", f"{_open}/other:v1"), encoding="utf-8")
        _client.push("other", "v1", ("linux/amd64", "linux/arm64"))
        self.unproven(f"{_closed}/x", {"plain-http": [_closed, _open]})
        self.refresh(0, f"{_closed} never gave")
        self.assertEqual(self.hosts(), [_open])

    def test_what_is_missing_counts_from_the_start(self):
        self.unproven(f"{_open}/nothing")
        self.refresh(1, "not found")

    def test_a_damaged_list_of_hosts(self):
        (self.tree.common / "imgcheck").mkdir()
        (self.tree.common / "imgcheck" / "proven-hosts").write_bytes(b"\xff\x00 no host\n")
        self.unproven(f"{_closed}/x")
        self.refresh(0, "never gave this unit an image")
        self.assertIn("list of proven hosts", self.tree.report()["hook"]["notices"][0])


class Left(trees.TreeTest):
    """Revision 2 has a description that revision 1's checker does not know."""

    def setUp(self):
        super().setUp()
        self.tree.add("1", "{{ registry }}/old:v1")
        self.tree.set_current("1")
        self.registry = f"{_open}/{self.id().rsplit('.', 1)[-1].replace('_', '-')}"
        self.configure(self.registry)

    def comes(self, hooks, script=None):
        folder = self.tree.add("2", "{{ registry }}/new:v1", hooks=hooks)
        (folder / "templates" / "later.yaml").write_text("a: {{ b|invented_later }}\n", encoding="utf-8")
        if script:
            path = folder / "meta" / "hooks" / "post-refresh"
            path.write_text(script, encoding="utf-8")
            path.chmod(0o755)
        (folder / "bin").mkdir()
        (folder / "bin" / "imgcheck").symlink_to(built("imgcheck"))
        return folder

    def test_a_post_refresh_hook_of_ours_gets_it(self):
        folder = self.comes(trees.HOOKS)
        _client.push(self.registry.removeprefix(f"{_open}/") + "/new", "v1", ("linux/amd64", "linux/arm64"))
        self.refresh(0, "invented_later", "left to the post-refresh hook", "nothing is stopped")
        (folder / "templates" / "later.yaml").unlink()  # as a newer checker would read it
        self.tree.set_current("2")
        self.after(0)
        report = self.tree.report()
        self.assertEqual((report["hook"]["name"], report["hook"]["from"], report["hook"]["result"]), ("post-refresh", "1", "allowed"))

    def test_what_was_missing_before_is_told_by_the_revision_it_came_from(self):
        self.tree.add("7", "{{ registry }}/older:v1")
        self.assertEqual(self.tree.run_hook("install"), (0, ""))  # records both
        folder = self.comes(trees.HOOKS)
        (folder / "templates" / "pods.yaml").write_text(trees.pods("{{ registry }}/old:v1"), encoding="utf-8")
        self.refresh(0, "old:v1", "left to the post-refresh hook")
        (folder / "templates" / "later.yaml").unlink()
        self.tree.set_current("2")
        self.after(0, "old:v1")
        report = self.tree.report()
        self.assertEqual((report["hook"]["from"], report["counts"]["already-missing"]), ("1", 1))

    def test_what_cannot_be_read_even_then_goes_back(self):
        self.comes(trees.HOOKS)
        _client.push(self.registry.removeprefix(f"{_open}/") + "/new", "v1", ("linux/amd64", "linux/arm64"))
        for text in ("a: {{ b|invented_later }}\n", None):
            with self.subTest(text):
                if text is None:
                    (self.tree.snap / "2" / "meta" / "imgcheck.yaml").write_text("version: 2\n", encoding="utf-8")
                self.refresh(0, "left to the post-refresh hook")
                self.tree.set_current("2")
                self.after(1, "imgcheck.yaml" if text is None else "invented_later", "the refresh is undone")
                self.tree.set_current("1")

    def test_a_script_that_calls_ours_counts_as_one(self):
        self.comes(("pre-refresh",), POST_SCRIPT)
        self.refresh(1, "new:v1")  # what is missing is a veto all the same
        self.assertIn("left to the post-refresh hook", self.tree.report()["hook"]["text"])

    def test_without_one_it_is_a_veto(self):
        for script in (None, "#!/bin/sh\nexit 0\n", "#!/bin/sh\n# no more: imgcheck hook post-refresh\n"):
            with self.subTest(script):
                self.comes(("pre-refresh",), script)
                self.refresh(1, "invented_later")
                self.assertNotIn("left to", self.tree.report()["hook"]["text"])
                self.tree.remove("2")

    def test_nothing_is_left_where_post_refresh_would_not_know_of_it(self):
        # It would only warn of what it cannot read, as it does of all where no revision before it had a hook.
        folder = self.comes(trees.HOOKS)
        _client.push(self.registry.removeprefix(f"{_open}/") + "/new", "v1", ("linux/amd64", "linux/arm64"))
        in_the_way = self.tree.common / "imgcheck" / ".judged-revisions.new"
        in_the_way.mkdir(parents=True)  # as a full disk
        self.refresh(1, "invented_later", "nothing can be left to post-refresh: cannot write", "the refresh is stopped")
        self.configure(self.registry, {"on-unreadable": "warn"})
        self.assertNotIn("left to post-refresh", self.refresh(0, "invented_later"))
        self.configure(self.registry)
        (folder / "templates" / "later.yaml").unlink()
        self.refresh(0)
        in_the_way.rmdir()
        self.assertEqual(self.refresh(0), "")

    def test_the_operator_may_want_a_veto(self):
        self.comes(trees.HOOKS)
        self.configure(self.registry, {"on-unreadable": "veto", "on-missing": "warn"})
        self.refresh(1, "invented_later")


class After(trees.TreeTest):
    """post-refresh: revision 2 is current."""

    def setUp(self):
        super().setUp()
        self.tree.add("1", "{{ registry }}/old:v1", hooks=())
        self.tree.add("2", "{{ registry }}/new:v1", version="2.0")
        self.tree.set_current("2")
        self.registry = f"{_open}/{self.id().rsplit('.', 1)[-1].replace('_', '-')}"
        self.configure(self.registry)

    def test_the_first_revision_with_a_hook_goes_back_over_a_missing_image(self):
        output = self.after(1, f"{self.registry}/new:v1", "the refresh is undone", "toy revision 2 (2.0)")
        self.assertIn("imgcheck.accept-revision=2", output.splitlines()[-1])
        self.assertEqual(self.tree.status()["result"], "vetoed")
        self.assertFalse((self.tree.common / "imgcheck" / "known-revisions").exists())
        _client.push(self.registry.removeprefix(f"{_open}/") + "/new", "v1", ("linux/amd64", "linux/arm64"))
        self.assertEqual(self.after(0), "")
        self.assertTrue((self.tree.common / "imgcheck" / "known-revisions").exists())

    def test_nothing_but_a_missing_image_goes_back(self):
        self.configure(f"{refused()}/x")
        self.after(0, "nothing is stopped")
        self.configure(self.registry, {"on-missing": "warn"})
        self.after(0, "new:v1")
        (self.tree.snap / "2" / "meta" / "imgcheck.yaml").write_text("nonsense", encoding="utf-8")
        self.configure(self.registry, {"on-unreadable": "veto", "on-internal-error": "veto"})
        self.after(0, "imgcheck.yaml")

    def test_a_fault_of_its_own_goes_on_whatever_is_set(self):
        self.configure(self.registry, {"on-internal-error": "veto"})
        for child in (1, 3):
            self.break_from_within(FORKS_BAD=child, FORKS_SIGNAL=9)
            self.after(0, "cannot check the images", "the refresh goes on")

    def test_what_the_old_revision_missed_too_goes_on(self):
        (self.tree.snap / "1" / "templates" / "pods.yaml").write_text(trees.pods("{{ registry }}/new:v1"), encoding="utf-8")
        self.after(0, "needed before too")

    def test_what_each_of_the_others_missed_goes_on(self):
        # snapd keeps two or three: the revision that was current is one of them.
        (self.tree.snap / "1" / "templates" / "pods.yaml").write_text(trees.pods("{{ registry }}/new:v1"), encoding="utf-8")
        for images, expected in ((("{{ registry }}/other:v1", "{{ registry }}/new:v1"), 0), (("{{ registry }}/other:v1",), 1)):
            with self.subTest(images):
                self.tree.add("7", *images, hooks=())
                self.tree.add("x3", "{{ registry }}/new:v1", description=None, hooks=())
                output = self.after(expected, "new:v1")
                (self.assertIn if expected == 0 else self.assertNotIn)("needed before too", output)
                self.assertEqual(self.tree.report()["hook"]["from"], None)
                self.assertEqual(sum("that of revision 2 was used" in line for line in self.tree.report()["hook"]["notices"]), 1)
                self.tree.remove("7")
                self.tree.remove("x3")

    def test_what_pre_refresh_judged_is_not_judged_again(self):
        self.tree.remove("1")
        self.tree.add("1", "{{ registry }}/old:v1")
        self.tree.set_current("1")
        self.configure(self.registry, {"accept-revision": 2})
        self.refresh(0, "new:v1")
        before = self.tree.report()
        self.tree.set_current("2")
        self.configure(self.registry, {"accept-revision": 2, "mode": "warn"})
        self.assertEqual(self.after(0), "")
        self.assertEqual(self.tree.report(), before)
        self.assertEqual(self.tree.settings().get("accept-revision"), None)
        self.assertEqual(self.tree.settings()["mode"], "warn")

    def test_what_was_judged_is_judged_again_in_another_refresh(self):
        # 3 has our hooks and meets 2; then 1 is current, which has none, and 2 comes in from there.
        self.tree.add("3", "{{ registry }}/old:v1")
        for settings in ({}, {"mode": "warn"}):
            with self.subTest(settings):
                self.tree.set_current("3")
                self.configure(self.registry, settings)
                self.refresh(0 if settings else 1, "new:v1")
                self.tree.set_current("2")
                if settings:
                    self.assertEqual(self.after(0), "")  # of the refresh that was judged
                    self.configure(self.registry)
                self.after(1, "new:v1", "the refresh is undone")

    def test_an_acceptance_of_what_might_have_come_in_is_cleared_too(self):
        # Where pre-refresh cannot be certain it names one of them to the operator.
        self.tree.remove("1")
        self.tree.add("1", "{{ registry }}/old:v1")
        self.tree.set_current("1")
        self.tree.add("10", "{{ registry }}/new:v1")
        self.assertIn("imgcheck.accept-revision=10", self.refresh(1, "not certain").splitlines()[-1])
        self.configure(self.registry, {"accept-revision": 10})
        self.refresh(0, "new:v1")
        self.tree.set_current("2")
        self.assertEqual(self.after(0), "")
        self.assertNotIn("accept-revision", self.tree.settings())

    def test_accepted_or_not_enforced(self):
        self.configure(self.registry, {"accept-revision": 2})
        self.after(0, "new:v1", "accept-revision names this revision")
        self.assertNotIn("accept-revision", self.tree.settings())
        self.configure(self.registry, {"mode": "warn", "accept-revision": 3})
        self.after(0, "new:v1")
        self.assertEqual(self.tree.settings()["accept-revision"], 3)
        self.configure(self.registry, {"mode": "off"})
        self.assertEqual(self.after(0), "")

    def test_a_unit_that_is_not_set_up(self):
        self.configure(self.registry, kubeconfig=None)
        self.assertEqual(self.after(0), "")
        self.assertEqual(self.tree.status()["result"], "skipped")
