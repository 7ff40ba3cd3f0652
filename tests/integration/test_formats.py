# SPDX-License-Identifier: Apache-2.0
"""Each format of a report, read by a tool of the world that it is for."""

import html.parser
import json
import pathlib
import re
import shutil
import subprocess
import tempfile
import time
import unittest
import xml.etree.ElementTree

import gallery
import world
from support import built, schema, tool

HOSTILE = "a: ['<script>alert(1)</script>|`*x*`\n"


def run(*arguments, stdin=None, status=0):
    done = subprocess.run([*map(str, arguments)], input=stdin, capture_output=True, text=True, timeout=60, check=False)
    if status is not None and done.returncode != status:
        raise AssertionError(f"{arguments}: exit {done.returncode}: {done.stdout}{done.stderr}")
    return done


class Page(html.parser.HTMLParser):
    """Rows of the table, and everything that a page could fetch or run."""

    VOID = {"meta", "br"}

    def __init__(self, text):
        super().__init__()
        self.rows, self.open, self.outside, self.text = [], [], [], ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        if tag not in self.VOID:
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        self.outside += [(tag, name) for name, _ in attrs if name in ("src", "href", "srcset", "data", "action") or name.startswith("on")]
        if tag in ("script", "iframe", "object", "embed", "link", "img"):
            self.outside.append(tag)

    def handle_endtag(self, tag):
        if tag in self.VOID:
            return
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-1:]}"
        self.open.pop()

    def handle_data(self, data):
        self.text += data
        if {"td", "th"} & set(self.open):
            self.rows[-1][-1] += data


class Formats(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="imgcheck-formats-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.host = world.plain().host
        cls.bad = cls.folder / "bad.yaml"
        cls.bad.write_text(HOSTILE, encoding="utf-8")
        cls.list = cls.folder / "list.txt"
        cls.list.write_text("".join(f"{cls.host}/{picture.image}\n" for picture in gallery.pictures()), encoding="utf-8")
        cls.report = json.loads(cls.check("json").stdout)
        cls.verdicts = {image["reference"]: image["verdict"] for image in cls.report["images"]}
        assert len(set(cls.verdicts.values())) > 4, cls.verdicts

    @classmethod
    def check(cls, name, *arguments, status=None):
        return run(built("imgcheck"), "check", "--platform", world.PLATFORM, "--plain-http", cls.host, "--format", name, cls.list, cls.bad,
                   *arguments, status=status)

    def test_json(self):
        done = self.check("json", status=5)
        schema.validate(json.loads(done.stdout))
        counted = run("jq", "-r", '.images | group_by(.verdict) | map("\\(.[0].verdict) \\(length)") | .[]', stdin=done.stdout).stdout
        verdicts = [image["verdict"] for image in self.report["images"]]
        self.assertEqual(dict(line.rsplit(" ", 1) for line in counted.splitlines()),
                         {verdict: str(verdicts.count(verdict)) for verdict in verdicts})

    def test_the_schema_refuses_what_is_no_report(self):
        for change in ({"version": 2}, {"decision": "maybe"}, {"counts": {"nothing": 1}}, {"images": [{}]}, {"problems": [{}]}):
            self.assertFalse(schema.validator().is_valid(self.report | change), change)
        for member in ("version", "decision", "counts", "images", "problems"):
            self.assertFalse(schema.validator().is_valid({key: value for key, value in self.report.items() if key != member}), member)

    def test_markdown(self):
        text = self.check("markdown", status=5).stdout
        done = run(tool("cmark-gfm"), "--to", "xml", "--extension", "table", stdin=text)
        name = "{http://commonmark.org/xml/1.0}"
        tree = xml.etree.ElementTree.fromstring(re.sub(r"<!DOCTYPE.*?>", "", done.stdout))
        rows = [["".join(cell.itertext()).strip() for cell in row] for row in tree.iter(f"{name}table_row")]
        good = ["".join(item.itertext()).strip() for item in tree.iter(f"{name}item")]
        self.assertEqual({row[0]: row[1] for row in rows} | {ref: "ok" for ref in good if ref in self.verdicts}, self.verdicts)
        self.assertTrue(any(str(self.bad) in item for item in good), good)
        self.assertEqual([node.tag for node in tree.iter() if "html" in node.tag], [])

    def test_nagios(self):
        states = {"OK": 0, "WARNING": 1, "CRITICAL": 2, "UNKNOWN": 3}
        good = f"{self.host}/good/oci:v1"
        rows = (("OK", ("--image", good)), ("CRITICAL", ("--image", f"{self.host}/nowhere/at-all:v1", "--image", good)),
                ("WARNING", ("--warn", "missing", "--image", f"{self.host}/nowhere/at-all:v1")),
                ("UNKNOWN", ("--image", good, self.bad)), ("CRITICAL", (self.bad, "--image", f"{self.host}/nowhere/at-all:v1")),
                ("UNKNOWN", ("--depth", "deep", "--image", good)), ("UNKNOWN", ()), ("UNKNOWN", ("--nonsense",)))
        for state, arguments in rows:
            with self.subTest(arguments):
                command = [built("imgcheck"), "check", "--plain-http", self.host, "--platform", world.PLATFORM, *arguments, "--format", "nagios"]
                done = run(*command, status=states[state])
                self.assertRegex(done.stdout, rf"^IMGCHECK {state} - [^|\n]+( \| [^|\n]+)?\n$")
                # A real plugin that runs plugins and understands their states: it turns this one into OK.
                turned = run(tool("negate"), "--timeout=30", "--substitute", f"--{state.lower()}=OK", *command, status=0)
                self.assertIn("IMGCHECK OK", turned.stdout)
        done = run(built("imgcheck"), "check", "--plain-http", self.host, "--format=nagios", "--image", good, status=0)
        performance = dict(part.split("=", 1) for part in done.stdout.split(" | ")[1].split())
        for value in performance.values():
            self.assertRegex(value, r"^[0-9.]+(s|%|B|c)?(;[0-9.~@:]*){0,4}$")
        self.assertEqual((performance["ok"], performance["missing"].split(";")[0]), ("1;;;0;1", "0"))

    def test_prometheus(self):
        target, began = self.folder / "imgcheck.prom", int(time.time())
        target.write_text("old\n", encoding="utf-8")
        inode = target.stat().st_ino
        done = self.check("prometheus", "--output", target, status=5)
        self.assertEqual(done.stdout, "")
        self.assertNotEqual(target.stat().st_ino, inode)
        self.assertEqual(target.stat().st_mode & 0o444, 0o444)
        self.assertEqual([path.name for path in self.folder.iterdir() if path.name.startswith(".")], [])
        text = target.read_text(encoding="utf-8")
        lint = run(tool("promtool"), "check", "metrics", stdin=text)
        self.assertEqual(lint.stdout + lint.stderr, "")
        values = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
        for ref, verdict in self.verdicts.items():
            self.assertEqual(values[f'imgcheck_image_pullable{{reference="{ref}"}}'], str(int(verdict == "ok")), ref)
        verdicts = [image["verdict"] for image in self.report["images"]]
        self.assertEqual(values['imgcheck_images{verdict="not-found"}'], str(verdicts.count("not-found")))
        self.assertEqual((values["imgcheck_veto"], values['imgcheck_problems{class="unreadable"}']), ("1", "1"))
        self.assertGreaterEqual(int(values["imgcheck_last_run_timestamp_seconds"]), began)
        self.assertGreater(float(values["imgcheck_last_run_duration_seconds"]), 0)

    def test_prometheus_where_it_cannot_be_written(self):
        self.assertIn("cannot write", self.check("prometheus", "--output", self.folder / "nowhere" / "x.prom", status=70).stderr)

    def test_html(self):
        page = Page(self.check("html", status=5).stdout)
        self.assertEqual((page.open, page.outside), ([], []))
        head, *rows = page.rows
        self.assertEqual(head, ["image", world.PLATFORM, "reason", "needed by"])
        self.assertEqual({row[0]: row[1] for row in rows}, self.verdicts)
        reasons = {image["reference"]: image["reason"] for image in self.report["images"]}
        for row in rows:
            if row[1] != "ok":
                self.assertIn(reasons[row[0]], row[2])
            self.assertIn(f"{self.list}:", row[3])
        self.assertIn(str(self.bad), page.text)

    def test_quiet(self):
        command = [built("imgcheck"), "check", "--plain-http", self.host, "--quiet"]
        self.assertEqual(run(*command, "--image", f"{self.host}/good/oci:v1").stdout, "allow: 1 ok\n")
        done = run(*command, "--image", f"{self.host}/good/oci:v1", "--image", f"{self.host}/nowhere/at-all:v1", status=1)
        self.assertEqual((done.stdout, done.stderr), ("veto: 1 ok, 1 missing\n", ""))
        run(*command, "--format", "json", "--image", "a/b", status=2)


class Kept(unittest.TestCase):
    """Reports from files."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="imgcheck-kept-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def keep(self, name, platform, *images):
        path = self.folder / name
        host = world.plain().host
        run(built("imgcheck"), "check", "--plain-http", host, "--platform", platform, "--format", "json", "--output", path,
            *[argument for image in images for argument in ("--image", f"{host}/{image}")], status=None)
        return path

    def test_one_page_of_two_platforms(self):
        gallery.pictures()
        images = ("good/index-oci:v1", "good/others-layer-gone:v1", "absent/platform-index:v1")
        kept = [self.keep(f"{arch}.json", f"linux/{arch}", *images) for arch in ("amd64", "arm64")]
        head, *rows = Page(run(built("imgcheck"), "report", "--format", "html", *kept).stdout).rows
        self.assertEqual(head[1:3], ["linux/amd64", "linux/arm64"])
        self.assertEqual({row[0].split("/", 1)[1]: row[1:3] for row in rows},
                         {images[0]: ["ok", "ok"], images[1]: ["ok", "incomplete"], images[2]: ["no-platform", "ok"]})
        run(built("imgcheck"), "report", "--format", "markdown", *kept, status=2)

    def test_formats_of_a_kept_report(self):
        gallery.pictures()
        kept = self.keep("one.json", "linux/amd64", "nowhere/at-all:v1")
        self.assertIn("CRITICAL", run(built("imgcheck"), "report", "--format", "nagios", kept, status=2).stdout)
        text = run(built("imgcheck"), "report", "--format", "prometheus", kept).stdout
        self.assertIn(f"imgcheck_last_run_timestamp_seconds {int(kept.stat().st_mtime)}\n", text)
        self.assertEqual(run(tool("promtool"), "check", "metrics", stdin=text).stderr, "")
        self.assertIn("not-found", run(built("imgcheck"), "report", "--format", "markdown", kept).stdout)
        self.assertEqual(run(built("imgcheck"), "report", "--format", "json", kept).stdout, kept.read_text(encoding="utf-8"))
        self.assertIn("other formats", run(built("imgcheck"), "report", kept, status=5).stderr)
        self.assertEqual(run(built("imgcheck"), "report", "--format", "nagios", self.folder / "nowhere", status=3).stdout, "")
