# SPDX-License-Identifier: Apache-2.0
"""What a hurried operator, a clock and a disk do to a watch: nothing is lost, doubled or made up."""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time

import world
from support.badserver import response, silent
from support.process import Process, wait_until
from test_events import Changed
from test_gate import GateCase
from test_limits import found

HUGE = 2**63 - 1


class Told(Changed):
    def test_a_look_by_hand_takes_no_event_from_the_timer(self):
        """`imgcheck watch --once` beside a watch with more ways to tell, and with the same state."""
        self.start_registry()
        self.client.push("r0", "1")
        self.write_config("r0:1")
        self.assertEqual(self.round(), [])
        self.client.push("r0", "1", ("linux/arm64",))
        done = self.run_watch()
        self.assertIn("image.changed", done.stdout)
        self.assertEqual(self.waiting(), ["r0:1"], "the command has not been told")
        self.assertEqual(self.round(), [("changed", "r0:1")])
        self.assertEqual(self.waiting(), [])
        self.assertEqual(self.round(), [])

    def test_a_way_that_is_used_no_more_keeps_nothing_for_ever(self):
        self.changed()
        self.run_watch("--on-event", "exit 1", status=4)
        document = self.read_state()
        for sink in document["sinks"]:
            if sink["name"] == "command":
                sink["seen"] -= 15 * 86400
        self.state.write_text(json.dumps(document), encoding="utf-8")
        self.run_watch()
        self.assertEqual(self.waiting(), [])
        self.assertNotIn("command", [sink["name"] for sink in self.read_state()["sinks"]])

    def test_a_state_that_is_begun_anew_under_a_watch_is_told_from_its_first_event(self):
        self.start_registry()
        for i in range(3):
            self.client.push(f"r{i}", "1")
        self.write_config("r0:1", "r1:1", "r2:1")
        self.told.write_text("", encoding="utf-8")
        with Process(self.command("--on-event", f"cat >> {self.told}", "--interval", "1h"), self.folder / "log") as watch:
            def turn():
                before = self.read_state()["rounds"] if self.state.exists() else 0
                os.kill(watch.pid, signal.SIGHUP)
                wait_until(lambda: self.state.exists() and self.read_state()["rounds"] > before)
            wait_until(self.state.exists)
            for i in range(3):
                self.client.push(f"r{i}", "1", ("linux/arm64",))
            turn()
            wait_until(lambda: len(self.events()) == 3)
            self.state.unlink()
            turn()
            self.client.push("r0", "1")
            turn()
            wait_until(lambda: len(self.events()) == 4)


    def test_a_reader_of_the_output_that_stopped_holds_nothing_up(self):
        expected = self.changed()
        self.told.write_text("", encoding="utf-8")
        reader, writer = os.pipe()
        os.set_blocking(writer, False)
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(writer, bytes(4096))
        os.set_blocking(writer, True)
        watch = subprocess.Popen(self.command("--once", "--on-event", f"cat >> {self.told}"), stdout=writer, stderr=writer)
        self.addCleanup(watch.kill)
        wait_until(self.events, 20)
        watch.terminate()
        self.assertEqual(watch.wait(5), 4, "it is kept")
        os.close(writer)
        os.close(reader)
        self.assertIn("image.changed", self.run_watch("--on-event", f"cat >> {self.told}").stdout, "told once it can be")
        self.assertEqual([world.short(event) for event in self.events()], expected)


class Clock(world.Case):
    def test_a_clock_that_was_wrong_does_not_silence_a_host_for_ever(self):
        front = self.start_front()
        front.answer = response(429, Retry_After="60")
        self.write_config("r:1", host=front.host)
        self.round()
        document = self.read_state()
        document["hosts"][0]["until"] += 50 * 365 * 86400
        self.state.write_text(json.dumps(document), encoding="utf-8")
        before = len(front.requests)
        self.round()
        self.assertGreater(len(front.requests), before)

    def test_no_host_can_wish_to_be_left_alone_for_years(self):
        front = self.start_front()
        front.answer = response(429, Retry_After="999999999")
        self.write_config("r:1", host=front.host)
        self.round()
        self.assertLessEqual(self.read_state()["hosts"][0]["until"], time.time() + 86400)


class States(world.Case):
    def prepare(self):
        self.start_registry()
        self.client.push("r0", "1")
        self.write_config("r0:1")
        self.assertEqual(self.round(), [])
        self.client.push("r0", "1", ("linux/arm64",))
        self.assertEqual(self.round(), [("changed", "r0:1")])
        return self.read_state()

    def test_values_that_cannot_be_are_refused_and_left(self):
        good = self.prepare()

        def changed(path, value):
            document = json.loads(json.dumps(good))
            at = document
            for part in path[:-1]:
                at = at[part]
            at[path[-1]] = value
            return json.dumps(document)

        broken = [changed(path, HUGE) for path in (("last_event",), ("rounds",), ("images", 0, "misses"), ("sinks", 0, "failures"))]
        broken += [changed(("sinks", 0, "told"), 99), changed(("version",), "1"), changed(("images",), {}), changed(("id",), 7)]
        whole = json.dumps(good)
        broken += [whole[:len(whole) * i // 10] for i in range(10)] + [whole + "x", whole[:-1] + ', "images": []}']
        for text in broken:
            with self.subTest(text[:300]):
                self.state.write_text(text, encoding="utf-8")
                self.assertIn("cannot use the state", self.run_watch(status=70).stderr)
                self.assertEqual(self.state.read_text(encoding="utf-8"), text)

    def test_a_link_is_not_replaced(self):
        self.prepare()
        elsewhere = self.folder / "elsewhere"
        self.state.rename(elsewhere)
        for target in (elsewhere, self.folder / "not-mounted" / "state"):
            with self.subTest(target):
                self.state.unlink(missing_ok=True)
                self.state.symlink_to(target)
                self.assertIn("symbolic link", self.run_watch(status=70).stderr)
                self.assertTrue(self.state.is_symlink())

    def test_root_leaves_it_to_the_user_of_a_service(self):
        """A round by hand, or a hold, and the service goes on; whichever of them came first."""
        nobody = 65534
        self.folder.chmod(0o755)
        os.chown(self.folder, nobody, nobody)
        self.start_registry()
        self.client.push("r0", "1")
        self.write_config("r0:1")
        for first in ([], ["setpriv", f"--reuid={nobody}", f"--regid={nobody}", "--clear-groups"]):
            with self.subTest(first):
                self.state.unlink(missing_ok=True)
                for before in (first, [], ["setpriv", f"--reuid={nobody}", f"--regid={nobody}", "--clear-groups"]):
                    done = subprocess.run([*before, *self.command("--once")], capture_output=True, text=True, timeout=60, check=False)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertEqual({path.stat().st_uid for path in self.folder.glob("watch.yaml.state*")}, {nobody})
        os.chown(self.folder, 0, 0)
        for mode, owner in ((0o775, nobody), (0o1777, 0)):
            self.folder.chmod(mode)
            self.run_watch()
            self.assertEqual(self.state.stat().st_uid, owner, oct(mode))

    def test_one_shard_of_one_is_all(self):
        self.prepare()
        self.run_watch("--shard", "0/1")
        self.run_watch()

    def test_what_is_watched_never_breaks_the_state(self):
        self.start_registry()
        self.write_config(more="", host=self.front.host)
        listed = self.folder / "list.txt"
        listed.write_bytes(b"b\xe9d/image:1\nb\xe8d/image:1\n" + f"{self.front.host}/{'a/' * 3000}x:1\n".encode()
                           + f"{self.front.host}/r:1\n".encode())
        self.config.write_text(f"plain-http: ['{self.front.host}']\nimages: [{{paths: [list.txt]}}]\n", encoding="utf-8")
        for _ in range(3):
            done = subprocess.run(self.command("--once"), capture_output=True, text=True, timeout=60, check=False)
            self.assertIn(done.returncode, (0, 5), done.stderr)


class Gates(GateCase):
    def test_a_hold_before_the_first_round_makes_up_no_other_writer(self):
        for steps in (("hold",), ("hold", "release"), ("release",)):
            with self.subTest(steps):
                self.state.unlink(missing_ok=True)
                self.push("served", "stable")
                self.push("next")
                for step in steps:
                    self.gate(step, "notebook")
                self.assertEqual(self.round(), [] if steps[-1] == "hold" else ["promoted"])

    def test_a_rollback_that_did_not_come_about_is_none(self):
        first = self.push("first", "stable")
        self.push("second")
        self.assertEqual(self.round(), ["promoted"])
        self.client.request("DELETE", f"/v2/{self.repository}/manifests/{first}", expect=(202,))
        served = self.at("stable")
        self.gate("rollback", "notebook", status=4)
        self.assertEqual(self.at("stable"), served)

    def test_a_backup_that_cannot_be_told_is_not_gone(self):
        front = self.start_front(self.registry.host)
        front.answer = lambda request: response(503) if "/previous" in request.split("\r\n")[0] else front.forward(request)
        self.push("first", "stable")
        self.host = front.host
        self.write_gate()
        self.gate("rollback", "notebook", status=4)

    def test_a_rollback_holds_what_was_taken_away(self):
        first, second = self.push("first", "stable"), self.push("second")
        self.assertEqual(self.round(), ["promoted"])
        links = self.registry.storage / f"docker/registry/v2/repositories/{self.repository}/_manifests/tags"
        shutil.rmtree(links / "stable")
        self.gate("rollback", "notebook")
        self.assertEqual(self.at("stable"), first)
        self.assertEqual((self.round(), self.tags()), (["rolledback"], (second, first, first)), "not promoted again")

    def test_a_mirror_that_is_behind_is_no_other_writer(self):
        first, second = self.push("first", "stable"), self.push("second")
        mirror = self.start_front(self.registry.host)
        mirror.answer = lambda request: mirror.forward(request.replace("/manifests/stable", f"/manifests/{first}"))
        hosts = self.folder / "hosts" / self.host / "hosts.toml"
        hosts.parent.mkdir(parents=True)
        hosts.write_text(f'server = "http://{self.host}"\n[host."http://{mirror.host}"]\ncapabilities = ["pull", "resolve"]\n')
        self.config.write_text(self.config.read_text(encoding="utf-8") + "hosts-dir: hosts\nimages:\n"
                               f"- image: {self.host}/{self.repository}:stable\n", encoding="utf-8")
        self.assertEqual((self.round(), self.round()), (["promoted"], []))
        self.assertEqual(self.tags(), (second, second, first))
        self.gate("rollback", "notebook")
        self.assertEqual((self.round(), self.tags()), (["rolledback"], (second, first, first)))
        self.assertEqual(len(mirror.requests), 3, "images are still asked for as a node asks")

    def test_a_head_that_is_refused_is_no_other_writer(self):
        """While a GET is answered: the registry is at fault, and the tag is where it was."""
        first = self.push("first", "stable")
        self.point("next", first)
        front = self.start_front(self.registry.host)
        self.config.write_text(self.config.read_text(encoding="utf-8").replace(self.host, front.host), encoding="utf-8")
        self.assertEqual(self.round(), [])
        for fault in (response(404), found()):
            front.answer = lambda request, fault=fault: (fault if "/stable " in request.split("HTTP")[0] and request[0] == "H"
                                                         else front.forward(request))
            self.assertEqual(self.round(), [])
            self.assert_phase("served")
        front.answer = None
        self.point("stable", self.push("other", "elsewhere"))
        self.assertEqual(self.round(), ["conflict"], "and one that is there is told")
        before = len(front.requests)
        self.assertEqual((self.round(), len(front.requests) - before), ([], 2))

    def test_a_registry_that_contradicts_itself_about_the_served_tag(self):
        """HEAD says no while the tag is moved, and then GET: it is moved and told, or tried again in the next round."""
        first = self.push("first", "stable")
        front = self.start_front(self.registry.host)
        self.config.write_text(self.config.read_text(encoding="utf-8").replace(self.host, front.host), encoding="utf-8")
        self.point("next", first)
        self.assertEqual(self.round(), [])

        def refuse(method):
            front.answer = lambda request: (response(404) if request.startswith(method) and "/stable " in request.split("HTTP")[0]
                                            else front.forward(request))
        refuse("HEAD")
        second = self.push("second")
        self.assertEqual((self.round(), self.tags()), (["promoted"], (second, second, first)))
        refuse("GET")
        third = self.push("third")
        before = len(front.requests)
        self.assertEqual((self.round(), self.tags()), (["outdated"], (third, second, second)))
        self.assertLess(len(front.requests) - before, 20, "it is not tried again and again")
        front.answer = None
        self.assertEqual((self.round(), self.tags()), (["promoted"], (third, third, second)))

    def gates_behind(self, front, copy=""):
        """Two gates of the one registry, and none of them was ever judged."""
        name = f"{front.host}/{self.repository}"
        self.config.write_text(f"plain-http: ['{front.host}']\ndeadline: 4\ngates:\n" + "".join(
            f"- {{name: '{gate}', candidate: '{name}:next', served: '{name}:{gate}', backup: '{name}:{gate}-before', "
            f"validate: ['true']{copy}}}\n" for gate in "ab"), encoding="utf-8")

    def test_gates_ask_a_registry_once_that_wants_no_more(self):
        front = self.start_front()
        front.answer = response(429)
        self.gates_behind(front, ", copy: [sleep, '1.1']")
        self.assertEqual((self.round(), len(front.requests)), ([], 1))
        self.assertIn("is not asked once more in this round", self.gate("status", "b"))

    def test_gates_do_not_wait_one_by_one_for_a_registry_that_is_silent(self):
        front = self.start_front()
        front.answer = lambda _request: silent(front._server, None, None)
        self.gates_behind(front)
        start = time.monotonic()
        self.assertEqual(self.round(), [])
        self.assertLess(time.monotonic() - start, 7)
        self.assertIn("is not asked once more in this round", self.gate("status", "b"))

    def test_a_hold_waits_for_a_round_that_is_at_work(self):
        self.push("next")
        with subprocess.Popen(["flock", f"{self.state}.lock", "cat"], stdin=subprocess.PIPE) as holder:
            wait_until(pathlib.Path(f"{self.state}.lock").exists)
            hold = subprocess.Popen([world.IMGCHECK, "gate", "hold", "--config", self.config, "notebook"], stdout=subprocess.PIPE,
                                    stderr=subprocess.PIPE, text=True)
            self.addCleanup(hold.kill)
            self.assertIn("waiting for another imgcheck", hold.stderr.readline())
            holder.stdin.close()
        output, errors = hold.communicate(timeout=20)
        self.assertEqual((hold.returncode, errors), (0, ""))
        self.assertIn("held", output)

    def test_a_hold_is_not_said_to_another_shard(self):
        for i in range(2):
            self.round("--shard", f"{i}/2", "--state", self.folder / f"shard{i}")
        ends = [subprocess.run([world.IMGCHECK, "gate", "hold", "--config", self.config, "--state", self.folder / f"shard{i}", "notebook"],
                               capture_output=True, timeout=60, check=False).returncode for i in range(2)]
        self.assertEqual(sorted(ends), [0, 2])

    def test_a_name_that_is_too_long_for_the_state_is_refused(self):
        self.write_gate()
        self.config.write_text(self.config.read_text(encoding="utf-8").replace("name: notebook", f"name: {5000 * 'n'}"), encoding="utf-8")
        self.assertIn("up to 100 letters", self.run_watch(status=2).stderr)

    def test_two_gates_do_not_share_what_they_write(self):
        name = f"{self.host}/{self.repository}"
        text = self.config.read_text(encoding="utf-8")
        for served, backup in (("stable", "other"), ("other", "stable"), ("other", "previous"), ("previous", "other")):
            with self.subTest((served, backup)):
                self.config.write_text(f"{text}- name: two\n  candidate: {name}:edge\n  served: {name}:{served}\n"
                                       f"  backup: {name}:{backup}\n  validate: ['true']\n", encoding="utf-8")
                self.assertIn("gate 'notebook'", self.run_watch(status=2).stderr)

    def test_a_digest_is_no_tag(self):
        text = self.config.read_text(encoding="utf-8")
        for tag in (":next", ":stable", ":previous"):
            self.config.write_text(text.replace(tag, tag + "@sha256:" + 64 * "a"), encoding="utf-8")
            self.assertIn("no reference with a tag", self.run_watch(status=2).stderr)

    def test_a_candidate_without_a_tag_is_the_latest(self):
        digest = self.push("1", "latest")
        name = f"{self.host}/{self.repository}"
        self.config.write_text(self.config.read_text(encoding="utf-8").replace(f"{name}:next", name), encoding="utf-8")
        self.assertEqual(self.round(), ["promoted"])
        self.assertEqual(self.asked.read_text(encoding="utf-8"), f"{name}@{digest}\n")

    def test_a_child_that_stays_does_not_turn_good_into_rejected(self):
        self.push("next")
        self.answer("setsid sleep 30 & echo $! > child; exit 0")
        start = time.monotonic()
        try:
            self.assertEqual(self.round(), ["promoted"])
        finally:
            os.kill(int((self.folder / "child").read_text()), signal.SIGKILL)
        self.assertLess(time.monotonic() - start, 15)

    def test_a_gate_that_was_renamed_is_shown_no_more(self):
        self.push("next")
        metrics = self.folder / "metrics"
        self.round("--metrics", metrics)
        self.assertIn('gate="notebook"', metrics.read_text())
        self.config.write_text(self.config.read_text(encoding="utf-8").replace("name: notebook", "name: lab"), encoding="utf-8")
        self.round("--metrics", metrics)
        self.assertNotIn('gate="notebook"', metrics.read_text())
        self.assertIn('gate="lab"', metrics.read_text())
