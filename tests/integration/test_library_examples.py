# SPDX-License-Identifier: Apache-2.0
"""The programs in libimgcheck/examples against a real registry."""

import json
import pathlib
import subprocess
import tempfile
import unittest

import world
from support import built
from support.badserver import BadServer, silent

ALL = ("linux/amd64", "linux/arm64")


def run(name, *arguments, stdin=subprocess.DEVNULL):
    return subprocess.run([built(f"examples/{name}"), *map(str, arguments)], stdin=stdin, capture_output=True, text=True,
                          timeout=60, check=False)


class Examples(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="imgcheck-examples-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.host = world.plain().host
        world.client().push("examples/there", "v1", ALL)
        self.there, self.missing = f"{self.host}/examples/there:v1", f"{self.host}/examples/missing:v1"

    def pods(self, name, *images):
        path = self.folder / name
        path.write_text("---\n".join(f'kind: Pod\nspec: {{containers: [{{image: "{image}"}}]}}\n' for image in images), encoding="utf-8")
        return path

    def test_check(self):
        done = run("check", self.pods("good.yaml", self.there))
        self.assertEqual((done.returncode, done.stdout), (0, "ok: 1 of 1 image can be pulled\n"), done.stderr)
        done = run("check", self.pods("bad.yaml", self.there, self.missing))
        self.assertEqual(done.returncode, 1)
        self.assertIn("404", done.stdout)
        self.assertEqual((run("check").returncode, run("check").stderr), (2, "check: usage: check PATH\n"))

    def test_loop_tells_how_far_it_is(self):
        done = run("loop", "--depth", "tag", self.pods("both.yaml", self.there, self.missing))
        self.assertEqual((done.returncode, done.stdout), (1, "1 of 2\n2 of 2\ndecision: veto\n"), done.stderr)
        done = run("loop", self.pods("good.yaml", self.there))
        self.assertEqual((done.returncode, done.stdout), (0, "1 of 1\ndecision: allow\n"))

    def test_loop_ends_where_nobody_is_asked(self):
        done = run("loop", "--ignore", "*", self.pods("ignored.yaml", self.missing))
        self.assertEqual((done.returncode, done.stdout), (0, "1 of 1\ndecision: allow\n"), done.stderr)

    def test_loop_ends_with_its_deadline(self):
        with BadServer(silent) as server:
            done = run("loop", "--deadline", 1, self.pods("slow.yaml", f"{server.host}/a:1"))
        self.assertEqual((done.returncode, done.stdout), (1, "1 of 1\ndecision: veto\n"))

    def test_loop_is_cancelled_by_a_line(self):
        with BadServer(silent) as server:
            with subprocess.Popen([built("examples/loop"), self.pods("slow.yaml", f"{server.host}/a:1")], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, text=True) as process:
                shown, _ = process.communicate("stop\n", timeout=60)
        self.assertEqual((process.returncode, shown), (1, "1 of 1\ndecision: veto\n"))

    def test_loop_refuses_what_it_does_not_know(self):
        for arguments in (("--nonsense", "1", "x"), ("--depth", "deepest", "x"), ("--depth",), ()):
            self.assertEqual(run("loop", *arguments).returncode, 2, arguments)

    def test_results_of_a_folder_of_templates(self):
        (self.folder / "templates").mkdir()
        self.pods("templates/a.yaml", "{{ registry }}/there:v1", "{{ registry }}/missing:v1", "a\\nchecked=0")
        done = run("results", f"{self.host}/examples", "", self.folder / "templates")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertEqual(done.stdout.splitlines()[:4], ["decision=veto", "checked=2", f"ok={self.there}", f"missing={self.missing}"])
        self.assertRegex(done.stdout, r"(?m)^problem=\S*a\.yaml:\d+: ")
        self.assertNotIn("checked=0", done.stdout.splitlines())

    def test_results_of_a_list(self):
        path = self.folder / "images.txt"
        path.write_text(f"{self.there}\n", encoding="utf-8")
        done = run("results", "", "", path)
        self.assertEqual((done.returncode, done.stdout), (0, f"decision=allow\nchecked=1\nok={self.there}\n"))

    def test_results_with_logins(self):
        host = world.htpasswd().host
        manifest = self.pods("a.yaml", f"{host}/examples/there:v1")
        auth = self.folder / "auth.json"
        done = run("results", host, "", manifest)
        self.assertEqual((done.returncode, done.stdout.splitlines()[-1]), (1, f"access={host}/examples/there:v1"))
        world.write_auth_file(auth, host)
        done = run("results", host, auth, manifest)
        self.assertEqual((done.returncode, done.stdout.splitlines()[-1]), (0, f"ok={host}/examples/there:v1"))

    def test_results_tells_why_it_cannot(self):
        auth = self.folder / "auth.json"
        auth.write_text(json.dumps({"auths": []}), encoding="utf-8")
        for arguments in ((), ("not a host", "", "x"), ("", self.folder / "none.json", "x"), ("", auth, "x")):
            done = run("results", *arguments)
            self.assertEqual((done.returncode, done.stdout[:6]), (2, "error="), arguments)


if __name__ == "__main__":
    unittest.main()
