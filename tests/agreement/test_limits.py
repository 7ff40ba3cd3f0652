# SPDX-License-Identifier: Apache-2.0
"""No server can hold a run up beyond its deadline, or make it take more memory than MEMORY."""

import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

import world
from rows_access import BEARER, challenged, pairs, token
from rows_images import index, single
from rows_servers import rule
from shelf import NAME, TAG
from support import built, nginx
from support.certs import Pair
from support.fault import Fault
from support.images import MEDIA, digest_of

MEMORY = 48  # MiB, of the release build
DEADLINE = 3
GRACE = 4  # to start, to end what is under way, and to print, on a busy machine
LARGE = 64 << 20


# Runs a program where a name server takes questions and never answers.
SILENT_NAME_SERVER = """
import os, socket, subprocess, sys
subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
subprocess.run(["mount", "--bind", sys.argv[1], "/etc/resolv.conf"], check=True)
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(("127.0.0.1", 53))
server.set_inheritable(True)
os.execv(sys.argv[2], sys.argv[2:])
"""


class Measured:
    """One run of imgcheck check: its images, how long it took, and its peak memory in MiB."""

    def __init__(self, *arguments, deadline=DEADLINE, before=()):
        with tempfile.TemporaryFile() as out:
            command = [*before, built("imgcheck"), "check", "--format", "json", "--platform", world.PLATFORM,
                       "--deadline", deadline, *arguments]
            began = time.monotonic()
            process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=out,
                                       stderr=subprocess.DEVNULL)
            self.deadline = deadline
            self.memory = peak_memory(process)
            self.seconds = time.monotonic() - began
            self.status = process.returncode
            out.seek(0)
            self.images = json.load(out)["images"]
        self.verdicts = {image["verdict"] for image in self.images}


def peak_memory(process):
    """Waits for the process; the kernel's own account of its peak, as it was last seen while it ran."""
    peak, status = 0, pathlib.Path(f"/proc/{process.pid}/status")
    while process.poll() is None:
        for line in status.read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith("VmHWM:"):
                peak = int(line.split()[1]) / 1024
        time.sleep(0.002)
    return peak


def served(shelf, rules, *arguments, tags=(TAG,), **options):
    """Checks images of the shelf on a fault server with these rules in front."""
    with tempfile.TemporaryDirectory(dir=world.FOLDER) as folder:
        folder = pathlib.Path(folder)
        with Fault(folder, shelf.script(folder, rules)) as server:
            for tag in tags:
                arguments += ("--image", f"{server.host}/{NAME}:{tag}")
            run = Measured("--plain-http", server.host, *arguments, **options)
            run.requests = len(server.requests())
            return run


class Limits(unittest.TestCase):
    def check(self, verdicts, *arguments, **options):
        return self.judge(verdicts, Measured(*arguments, **options))

    def judge(self, verdicts, run):
        print(f"{', '.join(sorted(run.verdicts))}, {run.seconds:.1f} s, {run.memory:.0f} MiB", end=" ", flush=True)
        self.assertLessEqual(run.verdicts, set(verdicts.split()), run.images[0])
        self.assertLess(run.seconds, run.deadline + GRACE)
        self.assertLess(run.memory, MEMORY)
        return run

    def serve(self, shelf, rules, verdicts, *arguments, **options):
        return self.judge(verdicts, served(shelf, rules, *arguments, **options))

    def serve_all(self, shelf, rows, **options):
        """(rules, verdicts) each; all at a time, since most of them wait."""
        with concurrent.futures.ThreadPoolExecutor(len(rows)) as pool:
            runs = [pool.submit(served, shelf, rules, **options) for rules, _ in rows]
        for run, (rules, verdicts) in zip(runs, rows):
            with self.subTest(rules):
                self.judge(verdicts, run.result())

    # ---- time

    def test_a_server_that_stalls(self):
        shelf = index()
        guarded = challenged([BEARER])
        rows = (
            rule("*", "${tag}", "stall"),
            rule("*", "${tag}", "status 200 OK; stall"),
            rule("*", "${image}/manifests/${top}",
                 "status 200 OK; header Content-Type: ${type}; header Content-Length: 500; end; send {; stall"),
            rule("*", "${image}/manifests/${child}", "stall"),
            rule("*", "${image}/blobs/${config}", "stall"),
            rule("*", "${image}/blobs/${layer}", "stall"),
            rule("*", "/token*", "stall") + guarded,
            "accept\n\tstall\n",
        )
        self.serve_all(shelf, [(rules, "unreachable deadline") for rules in rows])

    def test_a_server_that_drips(self):
        steps = "drip 1 50; status 200 OK; header Content-Type: ${type}; header Docker-Content-Digest: ${top}; body ${body}"
        paths = "${tag}", "${image}/manifests/${top}", "${image}/manifests/${child}", "${image}/blobs/${config}"
        self.serve_all(index(), [(rule("*", path, steps), "unreachable deadline") for path in paths])

    def test_a_server_that_drips_for_hundreds_of_images(self):
        rules = rule("*", "${image}/manifests/*", "drip 1 20; status 200 OK; header X: y; repeat a")
        self.serve(single(), rules, "unreachable deadline", tags=[f"t{i}" for i in range(300)])

    def test_a_server_that_wants_patience(self):
        for steps, verdict in (("status 429 No; header Retry-After: 86400", "rate-limited"),
                               ("status 503 No; header Retry-After: 86400", "server-error"),
                               ("status 429 No; header Retry-After: 99999999999999999999", "rate-limited")):
            with self.subTest(steps):
                run = self.serve(single(), rule("*", "${tag}", steps), verdict)
                self.assertLess(run.requests, 10)

    @unittest.skipUnless(os.geteuid() == 0, "needs root, for a network of its own")
    def test_a_name_server_that_is_silent(self):
        with tempfile.NamedTemporaryFile("w", dir=world.FOLDER) as resolver:
            resolver.write("nameserver 127.0.0.1\n")
            resolver.flush()
            before = ["unshare", "--net", "--mount", sys.executable, "-c", SILENT_NAME_SERVER, resolver.name]
            hosts = [word for i in range(20) for word in ("--image", f"registry{i}.example.org/{NAME}:{TAG}")]
            self.check("unreachable deadline", *hosts, before=before)

    # ---- loops

    def test_redirects_without_end(self):
        shelf = single()
        rows = (
            (rule("*", "${tag}", "status 307 No; header Location: ${tag}"), "server-error"),
            (rule("*", "${tag}", "status 307 No; header Location: http://localhost:${port}${tag}"), "server-error"),
            (rule("*", "${image}/blobs/${layer}", "status 302 No; header Location: ${image}/blobs/${layer}"), "server-error"),
            (rule("*", "/token*", "status 307 No; header Location: /token") + challenged([BEARER]), "server-error"),
        )
        for rules, verdict in rows:
            with self.subTest(rules):
                run = self.serve(shelf, rules, verdict)
                self.assertLess(run.requests, 40)

    def test_challenges_without_end(self):
        always = rule("*", "${image}/*", f"status 401 No; header WWW-Authenticate: {BEARER}")
        for rules in (always, always.replace('"\n', '",error="insufficient_scope",scope="repository:other:pull"\n')):
            with self.subTest(rules):
                run = self.serve(single(), token() + rules, "unauthorized", tags=[f"t{i}" for i in range(30)])
                self.assertLess(run.requests, 30 * 6)

    # ---- size

    def test_ten_thousand_layers(self):
        count, size = 10000, 150
        digests = [digest_of(str(i).encode()) for i in range(count)]

        def many(manifest):
            manifest["layers"] = [{"mediaType": MEDIA["oci"]["layer"], "digest": digest, "size": size} for digest in digests]

        shelf = single().change_config(lambda c: c["rootfs"].update(diff_ids=digests)).change(many)
        rules = rule("HEAD", "${image}/blobs/*", f"status 200 OK; header Content-Length: {size}; end")
        run = self.serve(shelf, rules, "ok", deadline=30)
        self.assertGreaterEqual(run.requests, count)
        run = self.serve(shelf, rule("*", "${image}/blobs/*", "stall") + rules, "deadline unreachable")
        lost = digests[count // 2]
        self.serve(shelf, rule("*", f"${{image}}/blobs/{lost}", "status 404 No") + rules, "incomplete", deadline=30)

    def test_large_bodies(self):
        shelf = index()
        kind = "status 200 OK; header Content-Type: ${type}; "
        rows = (
            (rule("GET", "${image}/manifests/${top}", kind + f"body-size {LARGE}"), "corrupt server-error"),
            (rule("GET", "${image}/manifests/${child}", kind + f"body-size {LARGE}"), "corrupt server-error"),
            (rule("GET", "${image}/manifests/${top}", kind + "end; repeat {},"), "corrupt server-error"),
            (rule("HEAD", "${tag}", "status 405 No") + rule("GET", "${tag}", kind + f"body-size {LARGE}"), "corrupt"),
            (rule("GET", "${image}/blobs/${config}", f"status 200 OK; body-size {LARGE}"), "corrupt server-error"),
            (rule("GET", "${image}/blobs/${config}", "status 200 OK; end; repeat x"), "corrupt server-error"),
            (rule("GET", "${image}/manifests/${top}", f"status 404 No; body-size {LARGE}"), "incomplete"),
            (rule("GET", "/token*", f"status 200 OK; body-size {LARGE}") + challenged([BEARER]), "server-error"),
            (rule("GET", "/token*", "status 403 No; end; repeat <") + challenged([BEARER]), "denied"),
        )
        for rules, verdict in rows:
            with self.subTest(rules):
                self.serve(shelf, rules, verdict)

    def test_large_layers_are_not_read(self):
        size = LARGE
        shelf = single().change(lambda m: m["layers"][0].update(size=size))
        whole = rule("*", "${image}/blobs/${layer}", f"status 200 OK; body-size {size}")
        run = self.serve(shelf, whole, "ok", "--depth", "bytes")
        self.assertLess(run.seconds, 2)
        self.serve(shelf, rule("*", "${image}/blobs/${layer}", "status 200 OK; end; repeat x"), "ok", "--depth", "bytes")

    def test_headers_without_end(self):
        rows = []
        for steps in ("status 200 OK; repeat X-Filler: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\\r\\n",
                      "status 200 OK; send X-Long: ; repeat a", "send HTTP/1.1 ; repeat 2", "repeat a",
                      "status 200 OK; send Transfer-Encoding: chunked\\r\\n\\r\\n; repeat 0",
                      "status 200 OK; send Transfer-Encoding: chunked\\r\\n\\r\\n1;; repeat a",
                      "repeat HTTP/1.1 100 Continue\\r\\n\\r\\n"):
            rows.append(("on * ${tag}\n\t" + steps.replace("; ", "\n\t") + "\n", "unreachable server-error deadline"))
        self.serve_all(single(), rows)

    def test_small_text_that_grows_when_it_is_read(self):
        for unit in ("{},", "[],", '"",', "0,"):
            with self.subTest(unit):
                text = ('{"manifests":[' + unit * (4193000 // len(unit)))[:-1] + "]}"
                self.serve(index().change(lambda _: text.encode()), "", "corrupt server-error")
        deep = b'{"manifests":' + b"[" * 2000000 + b"]" * 2000000 + b"}"
        self.serve(index().change(lambda _: deep), "", "corrupt server-error")

    def test_a_hundred_large_bodies_at_once(self):
        """Over HTTP/2, where nothing but our own budget keeps a hundred from coming at the same time."""
        size, count = 2 << 20, 100
        rules = "".join(
            rule("HEAD", f"${{image}}/manifests/t{i}", "status 200 OK; header Content-Type: ${type}; "
                 f"header Docker-Content-Digest: {digest_of(str(i).encode())}; header Content-Length: {size}; end")
            for i in range(count)) + rule("GET", "${image}/manifests/sha256:*", f"status 200 OK; body-size {size}")
        folder = pathlib.Path(tempfile.mkdtemp(dir=world.FOLDER))
        pair = Pair(pairs() / "good.crt", pairs() / "good.key")
        with Fault(folder, single().script(folder, rules)) as server, \
                nginx.Front(folder / "front", server.host, pair) as front:
            images = [word for i in range(count) for word in ("--image", f"{front.host}/{NAME}:t{i}")]
            self.check("corrupt", "--cacert", pairs() / "ca.crt", *images, deadline=40)
            self.check("corrupt", "--cacert", pairs() / "ca.crt", *images[:2], deadline=40)
            self.assertIn("HTTP/2.0", {request.protocol for request in front.requests()})
        self.serve(single(), rules, "corrupt", tags=[f"t{i}" for i in range(count)], deadline=40)
