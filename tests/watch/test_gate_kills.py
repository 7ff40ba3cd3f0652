# SPDX-License-Identifier: Apache-2.0
"""kill -9 at every moment of a gate's steps, then the same command again: nothing unvalidated is ever served, no event lost.

KILLS says how many moments are tried: 20 where it is not set, "all" in the long tests.
"""

import os
import pathlib
import signal
import subprocess
import unittest

import world
from test_gate import GateCase


def build_killer(folder):
    source = pathlib.Path(__file__).with_name("kill_at.c")
    subprocess.run(["cc", "-D_GNU_SOURCE", "-shared", "-fPIC", "-o", folder / "kill_at.so", source, "-ldl"], check=True)
    return folder / "kill_at.so"


class Scenario:
    """prepare: what was there before; begin, again: the command that is killed, and the one after it."""

    def __init__(self, name, served, answer="exit 0", begin="round", event="promoted", end="new"):
        self.name, self.served, self.answer, self.begin, self.event, self.end = name, served, answer, begin, event, end


SCENARIOS = (
    Scenario("a good candidate", ["old"]),
    Scenario("the first one", []),
    Scenario("a bad one", ["old"], answer="exit 1", event="rejected", end="old"),
    Scenario("a way back", ["old", "new"], begin="rollback", event="rolledback", end="old"),
    Scenario("promoted as it is", ["old"], begin="promote"),
)


class Kills(GateCase):
    def setUp(self):
        super().setUp()
        self.killer = build_killer(self.folder)
        self.images = {seed: self.push(seed, tag="pushed") for seed in ("old", "new")}

    def life(self, scenario, number):
        """Tags and a state of its own: as if the scenario had just begun."""
        self.name = f"{self.host}/{self.repository}"
        self.at_tags = {tag: f"{tag}-{number}" for tag in ("next", "stable", "previous")}
        text = self.whole_config
        for tag, own in self.at_tags.items():
            text = text.replace(f":{tag}\n", f":{own}\n")
        self.config.write_text(text, encoding="utf-8")
        if self.state.exists():
            self.state.unlink()
        if scenario.served:
            self.point(self.at_tags["stable"], self.images[scenario.served[-1]])
            self.point(self.at_tags["next"], self.images[scenario.served[-1]])
            if len(scenario.served) > 1:
                self.point(self.at_tags["previous"], self.images[scenario.served[0]])
            self.answer("exit 99")
            self.told.write_text("", encoding="utf-8")
            self.run_watch()
        self.point(self.at_tags["next"], self.images["new"])
        self.answer(f'case "$1" in *{self.images["new"]}) echo "{number}" >> judged ;; esac; {scenario.answer}')

    def begin(self, scenario, **environment):
        """The command, with the killer in it: its exit status."""
        told = ["--on-event", f"cat >> {self.told}"]
        if scenario.begin == "round":
            command = self.command("--once", *told)
        else:
            command = [world.IMGCHECK, "gate", scenario.begin, "--config", str(self.config), "notebook"]
        done = subprocess.run(command, env=dict(os.environ, LD_PRELOAD=str(self.killer), **environment), capture_output=True,
                              timeout=60, check=False)
        return done.returncode

    def served(self):
        return self.at(self.at_tags["stable"])

    def is_judged(self, number):
        judged = self.folder / "judged"
        return judged.exists() and str(number) in judged.read_text(encoding="utf-8").split()

    def check(self, scenario, number):
        """Right after the kill, and once the same was done again."""
        old = self.images["old"] if scenario.served else None
        allowed = {old}
        if scenario.begin != "round" or (scenario.answer == "exit 0" and self.is_judged(number)):
            allowed.add(self.images["new"])
        self.assertIn(self.served(), allowed)
        if scenario.begin != "round":
            self.begin(scenario)
        self.run_watch("--on-event", f"cat >> {self.told}")
        self.assertEqual(self.served(), self.images[scenario.end])
        events = [(event["type"].removeprefix("imgcheck.gate."), event["data"]["digest"]) for event in self.events()]
        about = self.images["old"] if scenario.event == "rolledback" else self.images["new"]
        self.assertIn((scenario.event, about), events)
        self.assertEqual(set(events), {(scenario.event, about)}, "and nothing else is told")
        if scenario.event == "promoted" and scenario.served:
            self.assertEqual(self.at(self.at_tags["previous"]), old, "the way back")
        self.run_watch("--on-event", "exit 1")

    def count(self, scenario):
        counted = self.folder / "count"
        self.life(scenario, f"count-{SCENARIOS.index(scenario)}")
        self.assertEqual(self.begin(scenario, KILL_COUNT=str(counted)), 0)
        return int(counted.read_text(encoding="utf-8"))

    def test_at_every_moment(self):
        self.whole_config = self.config.read_text(encoding="utf-8")
        moments = [(scenario, at) for scenario in SCENARIOS for at in range(1, self.count(scenario) + 1)]
        self.assertGreaterEqual(len(moments), 200)
        wanted = len(moments) if os.environ.get("KILLS") == "all" else int(os.environ.get("KILLS", "20"))
        chosen = [moments[i * len(moments) // wanted] for i in range(wanted)]
        for number, (scenario, at) in enumerate(chosen):
            with self.subTest(scenario.name, at=at):
                self.life(scenario, number)
                self.assertEqual(self.begin(scenario, KILL_AT=str(at)), -signal.SIGKILL)
                self.check(scenario, number)
        print(f"({len(chosen)} of {len(moments)} moments)", end=" ")


if __name__ == "__main__":
    unittest.main()
