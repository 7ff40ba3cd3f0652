# SPDX-License-Identifier: Apache-2.0
"""What --help says is what the page and the completion of the shell say."""

import re
import subprocess

from command import CommandTest
from support import ROOT, built


class Help(CommandTest):
    def commands(self):
        listed = self.run_it("--help").stdout.partition("\ncommands:\n")[2]
        return re.findall(r"^  ([a-z]+) ", listed, re.M)

    def flags(self, command):
        return re.findall(r"^  --([a-z-]+)(?: ([^ \n]+))?", self.run_it(command, "--help").stdout, re.M)

    def test_the_pages_tell_every_command_and_option(self):
        pages = "".join((ROOT / "hooks" / "man" / page).read_text(encoding="utf-8")
                        for page in ("imgcheck.1", "imgcheck-hook.8", "imgcheck-watch.8"))
        told = set(re.findall(r"(?<![\w-])-([a-z]+(?:-[a-z]+)*)", "".join(re.findall(r"^.*\bFl .*$", pages, re.M))))
        commands = self.commands()
        self.assertGreater(len(commands), 8)
        for command in commands:
            self.assertIn(f"\n.Cm {command}\n", pages)
            flags = [name for name, _ in self.flags(command)]
            self.assertTrue(flags)
            self.assertEqual(sorted(set(flags)), sorted(flags), f"{command}: an option is there twice")
            self.assertLessEqual(set(flags), told, command)

    def test_a_terminal_has_room_for_it(self):
        for command in self.commands():
            usage, *lines = self.run_it(command, "--help").stdout.splitlines()
            self.assertTrue(usage.startswith("usage: "))
            self.assertEqual([line for line in lines if len(line) > 80], [], command)

    def complete(self, *words):
        script = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _imgcheck; printf "%s\\n" "${COMPREPLY[@]}"'
        done = subprocess.run(["bash", "--norc", "-c", script, "bash", built("imgcheck.bash"), "imgcheck", *words], cwd=self.folder,
                              capture_output=True, text=True, timeout=30, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""), words)
        return done.stdout.split()

    def test_the_completion_knows_every_command_and_option(self):
        commands = self.commands()
        self.assertEqual(sorted(self.complete("")), sorted([*commands, "--help", "--version"]))
        for command in commands:
            self.assertEqual(sorted(self.complete(command, "--")), sorted(["--help", *(f"--{name}" for name, _ in self.flags(command))]))
            for name, argument in self.flags(command):
                if re.fullmatch(r"[a-z-]+(\|[a-z-]+)+", argument):
                    self.assertEqual(self.complete(command, f"--{name}", ""), argument.split("|"), f"{command} --{name}")

    def test_the_completion_of_operands(self):
        self.write("there.yaml", "x\n")
        self.write("folder/x", "x\n")
        self.assertEqual(sorted(self.complete("check", "")), ["folder", "there.yaml"])
        self.assertEqual(sorted(self.complete("check", "--target", "")), ["folder", "there.yaml"])  # or a .snap file
        self.assertEqual(self.complete("check", "--hosts-dir", ""), ["folder"])
        self.assertEqual(self.complete("check", "--values", "th"), ["there.yaml"])
        self.assertEqual(self.complete("check", "--creds", ""), [])
        self.assertEqual(self.complete("ch"), ["check"])
        self.assertEqual(self.complete("gate", "r"), ["run", "rollback", "release"])
        self.assertEqual(self.complete("gate", "--config", "th"), ["there.yaml"])
        self.assertEqual(self.complete("hook", "p"), ["pre-refresh", "post-refresh"])
        self.assertIn("bash", self.complete("guard", "--", "bas"))
