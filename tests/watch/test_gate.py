# SPDX-License-Identifier: Apache-2.0
"""Gates on a real registry: candidates good and bad, commands that fail, hang or cannot tell, and what operators do."""

import hashlib
import itertools
import json
import os
import pathlib
import resource
import signal
import subprocess
import time
import unittest

import world
from support import tool
from support.badserver import response
from support.containerd import Containerd
from support.images import MEDIA, Client
from support.registry import Registry

_numbers = itertools.count()
BOTH = ("linux/amd64", "linux/arm64")
KINDS = ", ".join(MEDIA[media][kind] for media in MEDIA for kind in ("manifest", "index"))


class GateCase(world.Case):
    """Candidate, served and backup tag in a repository of the test's own, and a gate between them."""

    timeout = 20

    def setUp(self):
        super().setUp()
        self.registry, self.client = world.shared_registry()
        self.host = self.registry.host
        self.repository = f"gate/{next(_numbers)}"
        self.asked = self.folder / "asked"
        self.asked.write_text("", encoding="utf-8")
        self.answer("exit 0")
        script = self.folder / "validate.sh"
        script.write_text('#!/bin/sh\necho "$1" >> asked\n. ./answer\n', encoding="utf-8")
        script.chmod(0o755)
        self.write_gate()

    def write_gate(self, validate="[./validate.sh]", more=""):
        name = f"{self.host}/{self.repository}"
        self.config.write_text(f"plain-http: ['{self.host}']\ndeadline: 20\ngates:\n- name: notebook\n  candidate: {name}:next\n"
                               f"  served: {name}:stable\n  backup: {name}:previous\n  validate: {validate}\n"
                               f"  timeout: {self.timeout}\n{more}", encoding="utf-8")

    def answer(self, text):
        """What the validation does: a piece of shell."""
        (self.folder / "answer").write_text(text + "\n", encoding="utf-8")

    def push(self, seed, tag="next", platforms=BOTH, media="oci"):
        """An image of its own, also under another tag: its digest."""
        image = self.client.push(self.repository, seed, platforms, media)
        self.point(tag, image.digest)
        return image.digest

    def point(self, tag, digest):
        """Somebody sets a tag."""
        answer, body = self.client.request("GET", f"/v2/{self.repository}/manifests/{digest}", headers={"Accept": KINDS}, expect=(200,))
        self.client.request("PUT", f"/v2/{self.repository}/manifests/{tag}", body, {"Content-Type": answer.headers["Content-Type"]},
                            expect=(201,))

    def at(self, tag):
        """The digest at a tag, or None. The registry may still be writing it for somebody who was killed: it then says 500."""
        for _ in range(100):
            answer, body = self.client.request("GET", f"/v2/{self.repository}/manifests/{tag}", headers={"Accept": KINDS},
                                               expect=(200, 404, 500))
            if answer.status != 500:
                break
            time.sleep(0.05)
        self.assertIn(answer.status, (200, 404), body)
        return "sha256:" + hashlib.sha256(body).hexdigest() if answer.status == 200 else None

    def tags(self):
        return self.at("next"), self.at("stable"), self.at("previous")

    def round(self, *options, status=0, **more):
        self.told.write_text("", encoding="utf-8")
        self.run_watch("--on-event", f"cat >> {self.told}", *options, status=status, **more)
        return [event["type"].removeprefix("imgcheck.gate.") for event in self.events()]

    def gate(self, what, *more, status=0):
        done = subprocess.run([world.IMGCHECK, "gate", what, "--config", str(self.config), *more], capture_output=True, text=True,
                              timeout=60, check=False)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout

    def status(self):
        (gate,) = json.loads(self.gate("status", "--format", "json"))["gates"]
        return gate

    def assert_phase(self, phase, *words):
        gate = self.status()
        self.assertEqual(gate["phase"], phase, gate)
        for word in words:
            self.assertIn(word, gate["reason"])
        self.assertRegex(gate["since"], r"^20\d\d-")
        return gate

    def start_judging(self, command):
        """The command at work on a validation, which waits for go()."""
        self.answer("echo $$ > pid; mv pid begun; while [ ! -e go ]; do sleep 0.05; done; exit 0")
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        until = time.monotonic() + 30
        while not (self.folder / "begun").exists():
            self.assertLess(time.monotonic(), until, "no validation began")
            time.sleep(0.01)
        return process

    def go(self, process):
        (self.folder / "go").touch()
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, errors)

    def questions(self):
        """The digests that were validated so far."""
        return [line.partition("@")[2] for line in self.asked.read_text(encoding="utf-8").splitlines()]


class Rounds(GateCase):
    def test_a_first_candidate_is_served_once_it_is_good(self):
        first = self.push("1")
        self.assertEqual(self.round(), ["promoted"])
        self.assertEqual(self.tags(), (first, first, None))
        event = self.events()[0]
        self.assertEqual((event["subject"], event["data"]["digest"]), ("notebook", first))
        self.assertEqual(self.asked.read_text(encoding="utf-8"), f"{self.host}/{self.repository}@{first}\n")
        self.assert_phase("served")

    def test_the_one_before_is_kept(self):
        """Of whatever format, and whole: an index moves with its platforms."""
        before = None
        for i, (media, platforms) in enumerate((("oci", BOTH), ("docker", BOTH), ("oci", BOTH[:1]), ("docker", BOTH[:1]))):
            digest = self.push(str(i), platforms=platforms, media=media)
            self.assertEqual(self.round(), ["promoted"])
            self.assertEqual(self.tags(), (digest, digest, before))
            raw = subprocess.run([tool("skopeo"), "inspect", "--raw", "--tls-verify=false", f"docker://{self.host}/{self.repository}:stable"],
                                 capture_output=True, timeout=60, check=True).stdout
            self.assertEqual(json.loads(raw)["mediaType"], MEDIA[media]["index" if len(platforms) > 1 else "manifest"])
            before = digest
        gate = self.assert_phase("served")
        self.assertEqual(gate["backup"]["digest"], self.at("previous"))

    def test_what_is_served_already_is_taken_as_it_is(self):
        digest = self.push("1")
        self.point("stable", digest)
        self.assertEqual((self.round(), self.questions()), ([], []))
        self.assert_phase("served")

    def test_nothing_but_two_heads_for_what_did_not_change(self):
        self.push("1")
        self.round()
        before = len(self.registry.requests())
        self.assertEqual(self.round(), [])
        self.assertEqual(sorted((r.method, r.path.rpartition("/")[2]) for r in self.registry.requests()[before:]),
                         [("HEAD", "next"), ("HEAD", "stable")])
        self.assertEqual(len(self.questions()), 1)

    def test_a_bad_one_is_rejected_once(self):
        good = self.push("1")
        self.round()
        self.answer("echo first; echo 'no \033[31mkernel' >&2; exit 3")
        bad = self.push("2")
        self.assertEqual(self.round(), ["rejected"])
        self.assertEqual(self.tags(), (bad, good, None))
        self.assertIn("the validation: exit status 3: first | no ?[31mkernel", self.events()[0]["data"]["reason"])
        self.assertEqual((self.round(), self.questions()), ([], [good, bad]))
        self.assert_phase("rejected", "exit status 3", "kernel")
        self.assertIn(f"rejected   {bad}", self.gate("status"))
        newer = self.push("3")
        self.answer("exit 0")
        self.assertEqual(self.round(), ["promoted"])
        self.assertEqual(self.tags(), (newer, newer, good))
        self.point("next", bad)
        self.assertEqual((self.round(), self.questions()), ([], [good, bad, newer]), "it is remembered")
        self.assert_phase("rejected", "exit status 3")
        self.gate("run", "notebook")
        self.assertEqual(self.tags(), (bad, bad, newer), "an operator asks again")

    def test_back_to_one_that_was_good(self):
        first = self.push("1")
        self.round()
        second = self.push("2")
        self.round()
        self.point("next", first)
        self.assertEqual(self.round(), ["promoted"])
        self.assertEqual(self.tags(), (first, first, second))
        self.assertEqual(self.questions(), [first, second, first], "each time it comes")

    def test_output_is_bounded_and_its_end_is_kept(self):
        self.push("1")
        self.answer("yes filler | head -c 1000000; echo the end; exit 1")
        self.assertEqual(self.round(), ["rejected"])
        reason = self.events()[0]["data"]["reason"]
        self.assertLess(len(reason), 2001)
        self.assertIn("filler", reason)
        self.assertLess(self.state.stat().st_size, 20000)
        self.assertTrue(self.status()["rejected"][0]["reason"])

    def test_later_is_told_once_and_asked_each_time(self):
        good = self.push("1")
        self.round()
        self.answer("echo no room now; exit 75")
        digest = self.push("2")
        self.assertEqual(self.round(), ["outdated"])
        since = self.assert_phase("outdated", "exit status 75", "no room now")["since"]
        self.assertEqual(self.round(), [])
        self.assertEqual(self.assert_phase("outdated")["since"], since)
        self.assertEqual(self.tags(), (digest, good, None))
        self.answer("exit 0")
        self.assertEqual(self.round(), ["promoted"])
        self.assertEqual(self.questions(), [good, digest, digest, digest])

    def test_a_command_that_is_not_there_judges_nothing(self):
        self.push("1")
        self.write_gate(validate="[./nowhere.sh]")
        self.assertEqual(self.round(), ["outdated"])
        self.assertEqual(self.assert_phase("outdated", "exit status 127", "nowhere.sh")["rejected"], [])
        self.assertIsNone(self.at("stable"))

    def test_a_candidate_that_vanishes(self):
        good = self.push("1")
        self.round()
        self.push("2")
        self.client.delete_manifest(self.repository, self.at("next"))
        self.assertEqual(self.round(), ["outdated"])
        self.assert_phase("outdated", "there is no")
        self.assertEqual(self.at("stable"), good)

    def served_through_a_front(self):
        """A front that the gate asks, and the digest that is served: what the candidate is, too."""
        good = self.push("1")
        front = self.start_front(self.registry.host)
        self.config.write_text(self.config.read_text(encoding="utf-8").replace(self.host, front.host), encoding="utf-8")
        self.point("stable", good)
        self.assertEqual(self.round(), [])
        return front, good

    def test_a_registry_that_wants_no_more_requests_gets_none(self):
        front, good = self.served_through_a_front()
        self.push("2")
        front.answer = response(429, b"", Retry_After="3600")
        self.assertEqual(self.round(), [])
        self.assert_phase("served", "429")
        front.answer, before = None, len(front.requests)
        self.assertEqual(self.round(), [])
        self.assert_phase("served", f"{front.host} is not asked before")
        self.assertEqual((len(front.requests), self.at("stable")), (before, good))
        self.answer("exit 1")
        self.gate("run", "notebook", status=1)
        self.assertGreater(len(front.requests), before, "an operator does not wait")

    def test_a_registry_that_is_off_changes_nothing(self):
        front, good = self.served_through_a_front()
        front.registry = None
        self.assertEqual(self.round(), [])
        self.assert_phase("served", "cannot tell where its tags are")
        self.assertEqual(self.status()["served"]["digest"], good)

    def test_a_gate_belongs_to_one_shard(self):
        digest = self.push("1")
        for i in range(3):
            self.round("--shard", f"{i}/3", "--state", self.folder / f"shard{i}")
        self.assertEqual((self.questions(), self.at("stable")), ([digest], digest))

    def test_environment_and_folder_of_the_command(self):
        digest = self.push("1")
        self.answer("env | grep ^IMGCHECK_ | sort > seen; exit 0")
        self.round()
        name = f"{self.host}/{self.repository}"
        self.assertEqual((self.folder / "seen").read_text(encoding="utf-8").splitlines(),
                         [f"IMGCHECK_CANDIDATE={name}:next", "IMGCHECK_GATE=notebook", f"IMGCHECK_IMAGE={name}@{digest}",
                          f"IMGCHECK_SERVED={name}:stable"])


class Hangs(GateCase):
    timeout = 1

    def test_it_is_killed_with_all_that_it_started(self):
        good = self.push("1")
        self.point("stable", good)
        self.round()
        self.answer("sleep 300 & echo $! > pid; wait")
        self.push("2")
        self.assertEqual(self.round(), ["rejected"])
        self.assert_phase("rejected", "killed after 1 s")
        self.assertEqual(self.at("stable"), good)
        pid = int((self.folder / "pid").read_text(encoding="utf-8"))
        self.assertTrue(is_gone(pid), "it left something behind")


def is_gone(pid):
    """Soon; a zombie that nobody reaps counts as gone."""
    until = time.monotonic() + 10
    while time.monotonic() < until:
        try:
            if pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] == "Z":
                return True
        except OSError:
            return True
    return False


class Operators(GateCase):
    def two(self):
        """The digests of two images, one served after the other."""
        first = self.push("1")
        self.round()
        second = self.push("2")
        self.round()
        return first, second

    def test_rollback(self):
        first, second = self.two()
        self.assertIn("held", self.gate("rollback", "notebook"))
        self.assertEqual(self.tags(), (second, first, first))
        self.assertEqual(self.round(), ["rolledback"], "told by the next round")
        self.assertEqual(self.events()[0]["data"]["digest"], first)
        self.assert_phase("held", "rolled back")
        self.assertEqual((self.round(), len(self.questions())), ([], 2), "not promoted again")
        self.gate("rollback", "notebook", status=1)
        third = self.push("3")
        self.assertEqual(self.round(), ["promoted"], "another candidate is another matter")
        self.assertEqual(self.tags(), (third, third, first))

    def test_rollback_and_release(self):
        first, second = self.two()
        self.gate("rollback", "notebook")
        self.gate("release", "notebook")
        self.assertEqual(self.round(), ["rolledback", "promoted"])
        self.assertEqual(self.tags(), (second, second, first))

    def test_rollback_while_a_third_one_waits(self):
        first, second = self.two()
        third = self.push("3")
        self.gate("rollback", "notebook")
        self.assertEqual((self.tags(), len(self.questions())), ((third, first, first), 2), "it judges nothing")
        self.assert_phase("outdated", "the next round")
        self.assertEqual(self.round(), ["rolledback", "promoted"])
        self.point("next", second)
        self.assertEqual(self.round(), [])
        self.assert_phase("held", "rolled back")

    def test_rollback_with_nothing_before(self):
        first = self.push("1")
        self.round()
        self.gate("rollback", "notebook", status=1)
        self.assertEqual(self.tags(), (first, first, None))

    def test_rollback_without_a_memory(self):
        """What the backup tag names is all that is known then."""
        first, second = self.two()
        self.state.unlink()
        self.gate("rollback", "notebook")
        self.assertEqual(self.tags(), (second, first, first))

    def test_hold(self):
        first = self.push("1")
        self.round()
        self.gate("hold", "notebook")
        second = self.push("2")
        self.assertEqual(self.round(), [])
        self.assert_phase("held", "imgcheck gate hold")
        self.gate("run", "notebook", status=1)
        self.assertEqual((self.tags(), self.questions()), ((second, first, None), [first]))
        self.gate("release", "notebook")
        self.assertEqual(self.round(), ["promoted"])
        self.assertEqual(self.at("stable"), second)

    def test_hold_while_it_is_being_validated(self):
        first = self.push("1")
        self.round()
        self.answer(f"{world.IMGCHECK} gate hold --config watch.yaml notebook && exit 0")
        second = self.push("2")
        self.assertEqual(self.round(), [])
        self.assertEqual(self.tags(), (second, first, None))
        self.assert_phase("held")

    def test_promote_without_validation(self):
        first = self.push("1")
        self.round()
        self.answer("exit 1")
        second = self.push("2")
        self.round()
        self.gate("promote", "notebook")
        self.assertEqual((self.tags(), len(self.questions())), ((second, second, first), 2))
        self.assertEqual(self.round(), ["promoted"])
        self.assertEqual(self.assert_phase("served")["rejected"], [])

    def test_status_before_the_first_round(self):
        gate = self.status()
        self.assertEqual((gate["phase"], gate["reason"], gate["since"]), ("new", "no round has looked at it yet", None))
        self.assertFalse(self.state.exists(), "a look writes nothing")

    def test_usage(self):
        for arguments in (("status", "nothing"), ("run",), ("explode", "notebook"), ("run", "notebook", "more")):
            self.gate(*arguments, status=2)

    def test_exit_statuses_of_run(self):
        self.push("1")
        self.gate("run", "notebook", status=0)
        self.push("2")
        self.answer("exit 1")
        self.gate("run", "notebook", status=1)
        self.answer("exit 75")
        self.gate("run", "notebook", status=4)


class OtherWriters(GateCase):
    def test_between_two_rounds(self):
        self.push("1")
        self.round()
        foreign = self.push("foreign", tag="stable")
        newer = self.push("2")
        self.assertEqual(self.round(), ["conflict"])
        self.assert_phase("outdated", "another writer moved", "gate release notebook")
        self.assertEqual((self.round(), self.tags()), ([], (newer, foreign, None)))
        self.assertEqual(len(self.questions()), 1)
        self.gate("release", "notebook")
        self.assertEqual(self.round(), ["promoted"])
        self.assertEqual(self.tags(), (newer, newer, foreign))

    def test_one_that_goes_away_again(self):
        first = self.push("1")
        self.round()
        self.push("foreign", tag="stable")
        self.assertEqual(self.round(), ["conflict"])
        self.point("stable", first)
        self.assertEqual(self.round(), [])
        self.assert_phase("served")

    def test_while_the_candidate_is_validated(self):
        self.push("1")
        self.round()
        foreign = self.push("foreign", tag="other")
        newer = self.push("2")
        put = (f"import urllib.request as u; b = 'http://{self.host}/v2/{self.repository}/manifests/'; "
               f"r = u.urlopen(u.Request(b + '{foreign}', headers={{'Accept': '{KINDS}'}})); "
               "u.urlopen(u.Request(b + 'stable', r.read(), {'Content-Type': r.headers['Content-Type']}, method='PUT'))")
        self.answer(f'python3 -c "{put}" && exit 0')
        self.assertEqual(self.round(), ["conflict"])
        self.assertEqual(self.tags(), (newer, foreign, None))

    def test_a_served_tag_that_was_taken_away(self):
        self.push("1")
        self.round()
        self.client.delete_manifest(self.repository, self.at("stable"))
        newer = self.push("2")
        self.assertEqual((self.round(), self.at("stable")), (["conflict"], None))
        self.gate("promote", "notebook")
        self.assertEqual(self.at("stable"), newer)

    def test_two_watches_with_one_state(self):
        digest = self.push("1")
        first = self.start_judging(self.command("--once"))
        self.assertIn("left to another imgcheck", self.run_watch().stderr)
        self.go(first)
        self.assertEqual((self.at("stable"), self.questions()), (digest, [digest]))

    def test_two_operators(self):
        digest = self.push("1")
        first = self.start_judging([world.IMGCHECK, "gate", "run", "--config", str(self.config), "notebook"])
        self.gate("run", "notebook", status=4)
        self.go(first)
        self.assertEqual((self.at("stable"), self.questions()), (digest, [digest]))

    def test_two_watches_with_two_states(self):
        self.push("1")
        for name in ("a", "b"):
            self.round("--state", self.folder / name)
        self.answer("sleep 0.5; exit 0")
        digest = self.push("2")
        both = [subprocess.Popen(self.command("--once", "--state", self.folder / name), stdout=subprocess.PIPE, text=True)
                for name in ("a", "b")]
        told = "".join(watch.communicate(timeout=60)[0] for watch in both)
        self.assertEqual(self.at("stable"), digest)
        self.assertIn("gate.promoted", told)


class Sources(GateCase):
    """A candidate that comes from another registry."""

    def setUp(self):
        super().setUp()
        self.source = self.enterContext(Registry(self.folder / "source"))
        self.upstream = self.enterContext(Client(self.source.host))
        copy = [tool("skopeo"), "--insecure-policy", "copy", "--quiet", "--all", "--src-tls-verify=false", "--dest-tls-verify=false",
                f"docker://{self.source.host}/upstream/notebook:latest", f"docker://{self.host}/{self.repository}:next"]
        self.write_gate(more=f"  copy: {json.dumps(copy)}\n")

    def test_what_is_served_stays_when_its_source_is_gone(self):
        digest = self.upstream.push("upstream/notebook", "latest", BOTH).digest
        self.assertEqual(self.round(), ["promoted"])
        self.assertEqual(self.tags(), (digest, digest, None))
        self.source.stop()
        self.assertEqual(self.round(), ["outdated"])
        self.assert_phase("outdated", "the copy failed: exit status 1")
        self.assertEqual(self.round(), [])
        served = f"{self.host}/{self.repository}:stable"
        subprocess.run([tool("skopeo"), "--insecure-policy", "copy", "--quiet", "--all", "--src-tls-verify=false", f"docker://{served}",
                        f"oci:{self.folder}/pulled"], timeout=60, check=True)
        if os.geteuid() != 0:
            self.skipTest("containerd wants root")
        with Containerd(self.folder / "ctr") as containerd:
            good, said = containerd.pulls(served, "linux/amd64", "--plain-http")
            self.assertTrue(good, said)


class Faults(GateCase):
    def test_a_state_that_is_broken_stops_all_and_stays(self):
        first = self.push("1")
        self.round()
        self.push("2")
        whole = self.state.read_bytes()
        for broken in (whole[:len(whole) // 2], b"", b"{}", whole.replace(b'"gates": [', b'"gates": {"x": [', 1)):
            self.state.write_bytes(broken)
            self.run_watch(status=70)
            for what in ("run", "promote", "rollback", "hold", "release", "status"):
                self.gate(what, "notebook", status=70)
            self.assertEqual((self.state.read_bytes(), self.at("stable")), (broken, first))

    def test_a_disk_that_fills_up_during_a_validation(self):
        """Nothing is served that is not also remembered; SIGXFSZ stands for a full disk."""
        first = self.push("1")
        self.round()
        self.answer("prlimit --pid $PPID --fsize=1; exit 0")
        second = self.push("2")
        self.run_watch(status=70, preexec_fn=lambda: signal.signal(signal.SIGXFSZ, signal.SIG_IGN))
        self.assertEqual(self.at("stable"), first)
        self.answer("exit 0")
        self.assertEqual(self.round(), ["promoted"])
        self.assertEqual(self.tags(), (second, second, first))

    def test_a_disk_that_is_full_from_the_start(self):
        first = self.push("1")
        self.round()
        self.push("2")

        def full():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (1, 1))
        self.run_watch(status=70, preexec_fn=full)
        self.assertEqual((self.at("stable"), self.questions()), (first, [first]))

    def test_the_end_of_a_watch_ends_its_validation(self):
        first = self.push("1")
        self.round()
        second = self.push("2")
        watch = self.start_judging(self.command())
        self.assert_phase("validating", second)
        watch.terminate()
        self.assertEqual(watch.wait(timeout=30), 0)
        watch.stderr.close()
        self.assertTrue(is_gone(int((self.folder / "begun").read_text(encoding="utf-8"))))
        self.assertEqual(self.at("stable"), first)
        self.answer("exit 0")
        self.assertEqual(self.round(), ["promoted"])

    def test_an_operator_who_changes_his_mind(self):
        digest = self.push("1")
        run = self.start_judging([world.IMGCHECK, "gate", "run", "--config", str(self.config), "notebook"])
        run.send_signal(signal.SIGINT)
        self.assertIn("ended by a signal", run.communicate(timeout=30)[1])
        self.assertEqual((run.returncode, self.at("stable")), (4, None))
        self.assertTrue(is_gone(int((self.folder / "begun").read_text(encoding="utf-8"))))
        self.answer("exit 0")
        self.gate("run", "notebook")
        self.assertEqual(self.at("stable"), digest)

    def test_a_write_that_is_refused_is_tried_again_without_another_validation(self):
        first = self.push("1")
        self.round()
        second = self.push("2")
        front = self.start_front(self.registry.host)
        front.answer = lambda request: response(403, b"{}") if request.startswith("PUT ") else front.forward(request)
        self.config.write_text(self.config.read_text(encoding="utf-8").replace(self.host, front.host), encoding="utf-8")
        self.assertEqual(self.round(), ["outdated"])
        self.assert_phase("outdated", "403")
        self.assertEqual(self.round(), [])
        self.assertEqual(self.at("stable"), first)
        self.config.write_text(self.config.read_text(encoding="utf-8").replace(front.host, self.host), encoding="utf-8")
        self.assertEqual(self.round(), ["promoted"])
        self.assertEqual((self.tags(), self.questions()), ((second, second, first), [first, second]))


if __name__ == "__main__":
    unittest.main()
