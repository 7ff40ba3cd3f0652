# SPDX-License-Identifier: Apache-2.0
"""The command and the hooks with one allocation after the other failing (program.c).

A command ends as it does with enough memory, or with 70 and a word why; a hook by the operator's policy.
"""

import concurrent.futures
import os
import pathlib
import re
import subprocess
import tempfile

import trees
from support import ROOT, built

DATA = ROOT / "tests/oom/data"
INTERNAL = 70
# So many are failed one by one, then one in so many, alone and with all behind it.
ALL, SHORT = (20, 23), (4, 131)
LANES = 2


def run(command, environment, allocation=None):
    """(status, output, errors, whether an allocation failed)"""
    reader, writer = os.pipe()
    with open(reader, "rb") as told:
        extra = {"IMGCHECK_OOM": f"{allocation} {writer}"} if allocation else {}
        try:
            done = subprocess.run(command, env=environment | extra, stdin=subprocess.DEVNULL, capture_output=True, pass_fds=(writer,),
                                  timeout=60, check=False)
        finally:
            os.close(writer)
        return done.returncode, done.stdout, done.stderr, bool(told.read())


class Sweep:
    """check: takes n, (status, output, errors) and the same with enough memory; gives a complaint or None."""

    def __init__(self, name, command, check, environment=None):
        self.name, self.command, self.check = name, [str(word) for word in command], check
        self.environment = dict(os.environ) if environment is None else environment

    def fail(self, many, stride):
        """(allocations failed, complaints)"""
        good, failed, complaints = run(self.command, self.environment)[:3], 0, []
        for behind in ("", "+"):
            n, more = 1, True
            while more and len(complaints) < 3:
                found = run(self.command, self.environment, f"{n}{behind}")
                found, more = found[:3], found[3]
                why = self.check(n, found, good)
                if why:
                    complaints.append(f"allocation {n}{behind}: status {found[0]}: {why}\n{found[2].decode(errors='replace')[-1500:]}")
                failed += more
                n += 1 if n < many else stride
        return failed, complaints


def without_time(output):
    """Some formats tell when they were made."""
    return re.sub(rb"\d+", b"0", output)


def as_a_command(_, found, good):
    if found[0] == good[0] and without_time(found[1]) == without_time(good[1]):
        return None
    if found[0] != INTERNAL:
        return f"neither {good[0]} with the same output nor {INTERNAL}"
    return None if found[2] else "no word of it"


def as_a_hook(_, found, good):
    """By default no memory lets snapd go on."""
    return None if found[0] in (0, good[0]) else f"neither {good[0]} nor 0"


class AsAVetoingHook:
    """No memory is a veto from where the settings are known."""

    def __init__(self):
        self.known = False

    def __call__(self, n, found, _):
        self.known = (self.known and n > 1) or found[0] == 1
        if found[0] not in (0, 1):
            return "neither 0 nor 1"
        return "0, though a veto was the setting before" if self.known and found[0] == 0 else None


def commands(host):
    asked = ["--plain-http", host, "--platform", "linux/amd64"]
    values = ["--set", "registry=r.example:5000", "--set", "arch=amd64"]
    target = ["--target", DATA / "target", "--snap-config", DATA / "snap-config.json"]
    node = ["--hosts-dir", DATA / "node/certs.d", "--authfile", DATA / "node/auth.json"]
    images = [word for name in ("good/image:1", "open/image:none") for word in ("--image", f"{host}/{name}")]
    for name, *arguments in (
            ("images as JSON", "images", "--format", "json", *values, DATA / "template.yaml"),
            ("images of a target", "images", *target),
            ("render", "render", "--values", DATA / "values.json", DATA / "target/templates/dns.yaml"),
            ("check", "check", *asked, *images),
            ("check as HTML", "check", "--format", "html", *asked, *images),
            ("check as Prometheus' text", "check", "--format", "prometheus", *asked, *images),
            ("check as Markdown", "check", "--format", "markdown", *asked, *images),
            ("guard", "guard", *asked, *images[:2], "--", "echo", "went on"),
            ("explain", "explain", *node, "busybox"),
            ("diff", "diff", DATA / "images.txt", DATA / "target/templates/dns.yaml"),
            ("diff as JSON", "diff", "--format", "json", DATA / "images.txt", DATA / "target/templates/dns.yaml"),
            ("audit", "audit", DATA / "images.txt", DATA / "target/templates/dns.yaml"),
            ("plan", "plan", "--registry", host, *asked[:2], DATA / "images.txt")):
        yield Sweep(name, [built("oom/imgcheck"), *arguments], as_a_command)


def hook_sweeps(folder, host):
    """A missing image is a veto, and no memory what on-internal-error says."""
    for policy in ("warn", "veto"):
        tree = trees.Tree(pathlib.Path(folder) / policy)
        tree.add("1")
        tree.set_current("1")
        tree.add("2", "{{ registry }}/open/image:none")
        tree.configure({"kubeconfig": "/k", "registry": host,
                        "imgcheck": {"plain-http": host, "on-unproven": "veto", "on-internal-error": policy}})
        for hook in ("pre-refresh", "post-refresh", "configure", "install"):
            vetoes = policy == "veto" and hook == "pre-refresh"
            command = [built("oom/imgcheck"), "hook", hook, "--blobs", tree.blobs, "--environment", tree.proxies]
            yield Sweep(f"{hook}, {policy}", command, AsAVetoingHook() if vetoes else as_a_hook, tree.environment())


def main(host, all_of_them):
    """(passed, failed, allocations failed)"""
    if b"__gcov_dump" in pathlib.Path(built("oom/imgcheck")).read_bytes():
        print("programs that count lines are not tried: what counts them needs memory at their end")
        return 0, 0, 0
    passed = failed = allocations = 0
    with tempfile.TemporaryDirectory(prefix="imgcheck-oom-") as folder, concurrent.futures.ThreadPoolExecutor(LANES) as lanes:
        sweeps = [sweep for sweep in (*commands(host), *hook_sweeps(folder, host))
                  if all_of_them or sweep.name in ("images as JSON", "check", "pre-refresh, warn", "pre-refresh, veto")]
        for sweep, (count, complaints) in zip(sweeps, lanes.map(lambda sweep: sweep.fail(*(ALL if all_of_them else SHORT)), sweeps)):
            print(f"{sweep.name:60} {count:6}")
            for complaint in complaints:
                print(f"FAIL {sweep.name}, {complaint}")
            failed += bool(complaints)
            passed += not complaints
            allocations += count
    return passed, failed, allocations
