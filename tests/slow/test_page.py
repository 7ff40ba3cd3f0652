# SPDX-License-Identifier: Apache-2.0
"""The page of a report in a headless Chromium: what it shows, and that it runs and fetches nothing."""

import html.parser
import json
import pathlib
import subprocess
import tempfile
import unittest

from support import built, schema, tool
from support.badserver import BadServer, always, response

HOSTILE = "\"><script>document.title='run'</script><img src=x onerror=\"document.title='run'\">&amp;<!--"


def image(reference, verdict, platform, outcome="missing", effect="veto", reason="because"):
    return {"reference": reference, "verdict": verdict, "class": outcome, "effect": effect, "reason": reason, "host": "r.example",
            "digest": None, "platform": platform, "credentials": "none", "written": reference, "source": None, "proxy": None,
            "origins": [{"file": HOSTILE, "line": 3, "object": "Pod " + HOSTILE, "path": "spec", "class": "required", "pullPolicy": None}]}


def report(platform, *images):
    return schema.validate({
        "version": 1, "decision": "veto", "counts": {"ok": 1, "missing": 2}, "subject": "addons " + HOSTILE, "images": list(images),
        "problems": [{"class": "unreadable", "file": HOSTILE, "line": 2, "message": "cannot read " + HOSTILE}],
        "viewpoint": {"askedFrom": "this host", "platforms": [platform], "depth": "blobs"}})


class Dom(html.parser.HTMLParser):
    """The table of a document, its title, and the names of its elements."""

    def __init__(self, text):
        super().__init__()
        self.rows, self.tags, self.title, self._in = [], set(), "", None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        if tag in ("td", "th", "title"):
            self._in = tag

    def handle_endtag(self, tag):
        if tag == self._in:
            self._in = None

    def handle_data(self, data):
        if self._in == "title":
            self.title += data
        elif self._in:
            self.rows[-1][-1] += data


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="imgcheck-page-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        one, two, three = "r.example/one:1", "r.example/two:1", f"r.example/{HOSTILE}"
        cls.expected = {one: ["ok", "no-platform"], two: ["not-found", "not-found"], three: ["invalid", "invalid"]}
        for number, platform in enumerate(("linux/amd64", "linux/arm64")):
            good = number == 0
            images = (image(one, cls.expected[one][number], platform, "ok" if good else "missing", "allow" if good else "veto"),
                      image(two, "not-found", platform), image(three, "invalid", platform, reason=HOSTILE))
            (cls.folder / f"{number}.json").write_text(json.dumps(report(platform, *images)), encoding="utf-8")
        cls.page = cls.folder / "report.html"
        subprocess.run([built("imgcheck"), "report", "--format", "html", "--output", cls.page, cls.folder / "0.json", cls.folder / "1.json"],
                       check=True, timeout=60)

    def browse(self, page, *arguments):
        done = subprocess.run([tool("chromium-headless-shell"), "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                               f"--user-data-dir={self.folder}/profile", *arguments, page.as_uri()],
                              capture_output=True, text=True, timeout=120, check=False, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_it_shows_the_images_by_platforms(self):
        dom = Dom(self.browse(self.page, "--dump-dom"))
        head, *rows = dom.rows
        self.assertEqual(head, ["image", "linux/amd64", "linux/arm64", "reason", "needed by"])
        self.assertEqual({row[0]: row[1:3] for row in rows}, self.expected)
        self.assertEqual((dom.title, dom.tags & {"script", "img", "link", "iframe"}), ("imgcheck", set()))

    def urls(self, page):
        """What the browser asked the network for."""
        log = self.folder / "net.json"
        self.browse(page, "--dump-dom", "--virtual-time-budget=2000", f"--log-net-log={log}", "--net-log-capture-mode=Everything")
        text = log.read_text(encoding="utf-8", errors="replace")
        return {part.split('"')[0] for part in text.split('"url":"')[1:]}

    def test_it_fetches_nothing(self):
        with BadServer(always(response(200, b"x"))) as server:
            other = self.folder / "other.html"
            other.write_text(f"<img src=\"http://{server.host}/x\">", encoding="utf-8")
            fetched = f"http://{server.host}/x"
            self.assertIn(fetched, self.urls(other))
            # What the browser does for itself it does here too.
            own = {url for url in self.urls(other) if url != fetched}
        self.assertEqual({url for url in self.urls(self.page) - own if "google" not in url}, set())

    def framed(self, name, sandbox, inner=None):
        page = self.folder / f"{name}.html"
        page.write_text(f"<!DOCTYPE html><iframe sandbox=\"{sandbox}\" width=1100 height=800 src=\"{(inner or self.page).name}\"></iframe>", encoding="utf-8")
        path = self.folder / f"{name}.png"
        self.browse(page, f"--screenshot={path}", "--window-size=1200,900")
        return path.read_bytes()

    def test_it_is_the_same_without_scripts(self):
        shown = self.framed("with", "allow-scripts")
        self.assertEqual(shown, self.framed("without", ""))
        blank = self.folder / "blank.html"
        blank.write_text("<!DOCTYPE html><title>x</title>", encoding="utf-8")
        self.assertGreater(len(shown), 4 * len(self.framed("empty", "", blank)))

    def test_its_policy_holds_should_markup_ever_get_in(self):
        with BadServer(always(response(200, b"x"))) as server:
            text = self.page.read_text(encoding="utf-8")
            bad = f"<script>document.title='run'</script><img src=\"http://{server.host}/x\"><link rel=stylesheet href=\"http://{server.host}/y\">"
            page = self.folder / "changed.html"
            page.write_text(text.replace("</body>", bad + "</body>"), encoding="utf-8")
            self.assertEqual(Dom(self.browse(page, "--dump-dom", "--virtual-time-budget=2000")).title, "imgcheck")
            self.assertEqual(server.requests, [])
            # Without the policy the browser does run and fetch: else this test says nothing.
            page.write_text(bad, encoding="utf-8")
            self.assertEqual(Dom(self.browse(page, "--dump-dom", "--virtual-time-budget=2000")).title, "run")
            self.assertNotEqual(server.requests, [])
