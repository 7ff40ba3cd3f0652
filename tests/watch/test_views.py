# SPDX-License-Identifier: Apache-2.0
"""What others see: metrics, the status page, the help; and what is said of a wrong command line."""

import html.parser
import re
import subprocess

from support import tool
from support.badserver import response
from world import Case


class Page(html.parser.HTMLParser):
    """The rows of the tables, by the table's class, as lists of texts; and what must not be in a page that stands alone."""

    def __init__(self, text):
        super().__init__()
        self.tables, self.table, self.cell, self.foreign = {}, None, None, []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        if tag in ("script", "img", "iframe", "link", "object") or any(name in attributes for name in ("src", "href", "onload", "onclick")):
            self.foreign.append(tag)
        if tag == "table":
            self.table = self.tables.setdefault(attributes.get("class"), [])
        elif tag == "tr":
            self.table.append([])
        elif tag in ("td", "th"):
            self.table[-1].append("")
            self.cell = self.table[-1]

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self.cell = None

    def handle_data(self, data):
        if self.cell is not None:
            self.cell[-1] += data


class Views(Case):
    def watch_three(self):
        """An image that is there, one that is gone, and one of a host that answers nonsense with marks in it."""
        self.start_registry()
        self.client.push("a", "1")
        self.client.push("b", "1")
        odd = self.start_front()
        odd.answer = response(500, b'{"errors": [{"code": "<b>&x", "message": "<script>x</script>"}]}')
        pods = self.folder / "pods.yaml"
        pods.write_text("kind: Pod\nspec:\n  containers:\n"
                        + f"  - {{name: a, imagePullPolicy: Always, image: '{self.front.host}/b:1'}}\n", encoding="utf-8")
        self.config.write_text(f"plain-http: ['{self.front.host}', '{odd.host}']\ndeadline: 20\nimages:\n- {{paths: [pods.yaml]}}\n"
                               f"- {{image: '{self.front.host}/a:1'}}\n- {{image: '{odd.host}/c:1'}}\n", encoding="utf-8")
        self.run_watch()
        self.client.delete_manifest("b", self.client.push("b", "1").digest)

    def test_the_page_tells_condition_since_and_why(self):
        self.watch_three()
        page = self.folder / "status.html"
        self.run_watch("--html", page)
        text = page.read_text(encoding="utf-8")
        parsed = Page(text)
        self.assertEqual(parsed.foreign, [])
        self.assertIn("default-src 'none'", text)
        self.assertNotIn("<script>", text)
        rows = {row[0].split("/", 1)[1]: row for row in parsed.tables["images"][1:]}
        self.assertEqual(rows["a:1"][1], "present")
        self.assertTrue(rows["a:1"][2].startswith("sha256:"))
        self.assertEqual(rows["b:1"][1], "gone")
        self.assertIn("404", rows["b:1"][4])
        self.assertTrue(rows["b:1"][5].startswith("Always: no container starts"))
        self.assertEqual(rows["c:1"][1], "new, not told now")
        self.assertIn("500", rows["c:1"][4])
        self.assertTrue(all(re.match(r"\d{4}-", rows[name][3]) for name in ("a:1", "b:1")))
        self.assertEqual([row[0] for row in parsed.tables["policies"][1:]], ["Always", "IfNotPresent", "Never"])

    def test_the_metrics_are_metrics(self):
        self.watch_three()
        path = self.folder / "watch.prom"
        self.run_watch("--metrics", path)
        text = path.read_text(encoding="utf-8")
        with open(path, "rb") as metrics:
            done = subprocess.run([tool("promtool"), "check", "metrics"], stdin=metrics, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for line in ('imgcheck_watch_images{condition="present"} 1', 'imgcheck_watch_images{condition="gone"} 1',
                     f'imgcheck_watch_image_gone{{reference="{self.front.host}/b:1"}} 1', "imgcheck_watch_events_total 1",
                     "imgcheck_watch_events_waiting 0", "imgcheck_watch_problems 0"):
            self.assertIn(f"\n{line}\n", "\n" + text)

    def test_a_page_that_cannot_be_written_does_not_stop_the_watch(self):
        self.start_registry()
        self.write_config("a:1")
        done = self.run_watch("--html", "/nowhere/page", "--metrics", "/nowhere/metrics")
        self.assertIn("cannot write /nowhere/page", done.stderr)

    def test_wrong_command_lines(self):
        self.start_registry()
        self.write_config("a:1")
        for options, said in ((["--interval", "0"], "1s to 7d"), (["--interval", "8d"], "1s to 7d"), (["--interval", "1w"], "1s to 7d"),
                              (["--shard", "4/4"], "I from 0"), (["operand"], "no operands"), (["--unknown"], "unknown option")):
            done = self.run_watch(*options, status=2)
            self.assertIn(said, done.stderr)
        done = subprocess.run(self.command()[:2], capture_output=True, text=True, timeout=20, check=False)
        self.assertEqual((done.returncode, "--config" in done.stderr), (2, True))
        self.config.write_text("images:\n- {imag: a}\n", encoding="utf-8")
        done = self.run_watch(status=2)
        self.assertIn("watch.yaml:2: cannot use 'imag': there is no such key", done.stderr)
        self.assertEqual(self.front.requests, [])
