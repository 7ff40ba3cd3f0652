# SPDX-License-Identifier: Apache-2.0
"""Reports with texts that are made to break a format: what comes out is still one."""

import json
import os
import pathlib
import subprocess
import unicodedata

from command import CommandTest
from support import built, schema, tool

HOSTILE = "a|b`c\"d\\e\nf\t<g>&[h](http://i)*_~#\x1b[31m\x7f\x9b32m'`$(j)é| k=9;;;0"


def image(verdict, outcome, effect, reference=HOSTILE):
    return {"reference": reference, "verdict": verdict, "class": outcome, "effect": effect, "reason": HOSTILE, "host": HOSTILE, "digest": None,
            "platform": "linux/amd64", "credentials": HOSTILE, "written": HOSTILE, "source": None, "proxy": None, "origins": []}


class Hostile(CommandTest):
    def report(self, *images, decision="veto", problems=()):
        report = {"version": 1, "decision": decision, "counts": {"ok": 0, "missing": len(images)}, "images": list(images),
                  "problems": list(problems), "subject": HOSTILE, "viewpoint": {"askedFrom": "this host", "platforms": ["linux/amd64"], "depth": "tag"}}
        return self.write("report.json", json.dumps(schema.validate(report)))

    def render(self, name, path, status=0):
        return self.run_it("report", "--format", name, path, status=status).stdout

    def test_nagios_is_one_line_with_one_bar(self):
        line = self.render("nagios", self.report(image("not-found", "missing", "veto")), status=2)
        self.assertEqual((line.count("\n"), line.count("|"), line.count("\x1b")), (1, 1, 0), line)

    def test_nagios_states(self):
        unreadable = {"class": "unreadable", "message": "x", "effect": "veto"}
        rows = ((("not-found", "missing", "veto"), "veto", (), 2), (("unauthorized", "access", "veto"), "veto", (), 2),
                (("unreachable", "undecided", "veto"), "veto", (), 3), (("not-found", "missing", "warn"), "warn", (), 1),
                (("not-found", "hint", "warn"), "veto", (unreadable,), 3), (("not-found", "missing", "veto"), "veto", (unreadable,), 2),
                (("ok", "ok", "allow"), "allow", (), 0), (("skipped", "skipped", "allow"), "allow", (), 0))
        for found, decision, problems, status in rows:
            with self.subTest(found):
                self.render("nagios", self.report(image(*found), decision=decision, problems=problems), status=status)

    def test_nagios_names_the_worst_and_how_many_more(self):
        images = [image("not-found", "missing", "warn", f"r/w{i}:1") for i in range(3)]
        images += [image("not-found", "missing", "veto", f"r/v{i}:1") for i in range(2)]
        line = self.render("nagios", self.report(*images), status=2)
        self.assertIn(": r/v0:1 (not-found), r/v1:1 (not-found), r/w0:1 (not-found) and 2 more |", line)

    def test_prometheus_is_valid(self):
        text = self.render("prometheus", self.report(image("not-found", "missing", "veto"), image("ok", "ok", "allow"),
                                                     image("ok", "ok", "allow", "r/a:1"), image("skipped", "skipped", "allow", "r/b:1")))
        done = subprocess.run([tool("promtool"), "check", "metrics"], input=text, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        values = [line.rsplit(" ", 1)[1] for line in text.splitlines() if line.startswith("imgcheck_image_pullable{")]
        self.assertEqual(sorted(values), ["0", "1"], "the same reference twice is told once, by the worse of the two")

    def test_markdown_has_no_markup_of_others(self):
        problem = {"class": "unreadable", "file": HOSTILE, "line": 3, "message": HOSTILE, "effect": "veto"}
        text = self.render("markdown", self.report(image("not-found", "missing", "veto"), image("ok", "ok", "allow"), problems=(problem,)))
        done = subprocess.run([tool("cmark-gfm"), "--unsafe", "--to", "html", "--extension", "table"], input=text, capture_output=True, text=True,
                              timeout=60, check=True)
        for tag in ("<g>", "<a ", "<em>", "<strong>", "<del>"):
            self.assertNotIn(tag, done.stdout)
        self.assertEqual(done.stdout.count("<td>"), 4)

    def test_no_terminal_obeys_the_texts_of_others(self):
        found = image("not-found", "missing", "veto")
        found["origins"] = [{"file": HOSTILE, "line": 3, "object": HOSTILE, "path": HOSTILE, "class": "required", "pullPolicy": None}]
        path = self.report(found, problems=({"class": "unreadable", "file": HOSTILE, "message": HOSTILE, "effect": "veto"},))
        for name, status in (("html", 0), ("markdown", 0), ("nagios", 2)):
            shown = self.render(name, path, status=status)
            self.assertEqual([char for char in shown if unicodedata.category(char) == "Cc" and char != "\n"], [], name)
            self.assertIn("é", shown)

    def test_output_never_takes_the_place_of_a_device(self):
        path = self.report(image("not-found", "missing", "veto"))
        text = self.render("markdown", path)
        for name in ("null", "full"):
            link = self.folder / name
            link.symlink_to(f"/dev/{name}")
            self.run_it("report", "--format", "markdown", "--output", link, path, status=0 if name == "null" else 70)
            self.assertTrue(link.is_symlink())
        standard = self.folder / "standard"
        standard.symlink_to("/proc/self/fd/1")
        self.assertEqual(self.run_it("report", "--format", "markdown", "--output", standard, path, status=0).stdout, text)
        with open(self.folder / "kept.md", "w+", encoding="utf-8") as kept:
            kept.write("before\n")
            kept.flush()
            subprocess.run([built("imgcheck"), "report", "--format", "markdown", "--output", standard, path], stdout=kept, check=True, timeout=60)
            self.assertEqual(pathlib.Path(kept.name).read_text(encoding="utf-8"), "before\n" + text)
        self.assertTrue(standard.is_symlink())
        fifo = self.folder / "fifo"
        os.mkfifo(fifo)
        with subprocess.Popen(["cat", fifo], stdout=subprocess.PIPE, text=True) as reader:
            self.run_it("report", "--format", "markdown", "--output", fifo, path, status=0)
            self.assertEqual(reader.communicate(timeout=60)[0], text)
        self.assertTrue(fifo.is_fifo())

    def test_a_problem_without_a_place(self):
        text = self.render("markdown", self.report(problems=[{"class": "unreadable", "file": None, "message": name, "effect": "veto"}
                                                             for name in ("one", "two")]))
        self.assertIn("\n- one\n- two\n", text)

    def test_what_is_no_report(self):
        for text in ("", "[]", "{}", '{"decision": 1}', '"x"'):
            for name in ("json", "html", "prometheus", "markdown"):
                self.assertIn("not a report", self.run_it("report", "--format", name, self.write("bad.json", text), status=5).stderr)
        # A report with nothing in it, and members of the wrong kind, are no fault of ours.
        odd = self.write("odd.json", '{"decision": "veto", "images": [{}, 1, null], "problems": {"a": 1}, "counts": 3, "viewpoint": []}')
        for name in ("html", "prometheus", "markdown"):
            self.run_it("report", "--format", name, odd)
        self.run_it("report", "--format", "nagios", odd, status=3)
