# SPDX-License-Identifier: Apache-2.0
"""The programs that are measured, and one measured run of one."""

import collections
import json
import os
import pathlib
import shutil
import subprocess

from support import built, tool

Run = collections.namedtuple("Run", "wall cpu rss_mib")
SECONDS = 300


class Failed(Exception):
    """A measured program said that something is not as it should be."""


def write_images(server, host, count):
    """(file of REPOSITORY:TAG, file of HOST/REPOSITORY:TAG)"""
    folder = server.folder
    names = [f"bench/addon-{i:05d}:v1" for i in range(count)]
    bare, full = folder / f"names-{count}", folder / f"images-{count}"
    bare.write_text("".join(f"{name}\n" for name in names), encoding="utf-8")
    full.write_text("".join(f"{host}/{name}\n" for name in names), encoding="utf-8")
    return bare, full


def imgcheck(server, count, depth, *others):
    """others: more servers, each of which is asked for as many images in the same run."""
    images = [write_images(each, each.host, count)[1] for each in (server, *others)]
    trust = ["--cacert", server.authority.crt] if server.way.tls else ["--plain-http", server.host]
    return [built("imgcheck"), "check", "--depth", depth, "--platform", "linux/amd64", *trust, *images]


def _trusted(server):
    """The certificates that imgcheck trusts too: the system's and the test's own."""
    path = server.folder / "trusted.pem"
    system = pathlib.Path("/etc/ssl/certs/ca-certificates.crt")
    path.write_bytes((system.read_bytes() if system.exists() else b"") + server.authority.crt.read_bytes())
    return path


def reference(server, count, depth):
    names, _ = write_images(server, server.host, count)
    options = ["-b"] * (depth == "blobs") + ["-t"] * bool(server.way.tokens) + ["-1"] * (not server.way.http2)
    trust = ["-c", _trusted(server)] if server.way.tls else []
    return [built("bench/reference"), *options, *trust, server.base, names]


def _each(server, count, command):
    """One process an image, eight at a time; by address, since not all of them resolve names below localhost."""
    _, images = write_images(server, server.numbers, count)
    return ["xargs", "-a", images, "-P8", "-I{}", *command]


def skopeo(server, count, _depth):
    trust = ["--tls-verify=false"]
    if server.way.tls:
        folder = server.folder / "skopeo-trust"
        folder.mkdir(exist_ok=True)
        shutil.copy(server.authority.crt, folder / "ca.crt")
        trust = ["--cert-dir", folder]
    return _each(server, count, [tool("skopeo"), "inspect", "--raw", *trust, "docker://{}"])


def crane(server, count, _depth):
    return _each(server, count, ["env", f"SSL_CERT_FILE={server.authority.crt}", "crane", "digest",
                                 *(["--insecure"] if not server.way.tls else []), "{}"])


def regctl(server, count, _depth):
    host = f"reg={server.numbers}," + (f"regcert={server.authority.crt}" if server.way.tls else "tls=disabled")
    return _each(server, count, ["regctl", "--host", host, "manifest", "head", "{}"])


OURS, REFERENCE = {"imgcheck": imgcheck}, {"bare libcurl": reference}
OTHERS = {"skopeo -P8": skopeo, **({"crane -P8": crane} if shutil.which("crane") else {}),
          **({"regctl -P8": regctl} if shutil.which("regctl") else {})}


def measure(server, argv):
    """Runs it at the client's end."""
    out = server.folder / "measured.json"
    command = server.place.client([built("bench/measure"), str(out), *map(str, argv)])
    with open(server.folder / "client.out", "w+", encoding="utf-8") as said:
        subprocess.run(command, stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT, timeout=SECONDS, check=True,
                       env={"PATH": os.environ["PATH"], "HOME": str(server.folder)})
        found = json.loads(pathlib.Path(out).read_text(encoding="utf-8"))
        if found["status"]:
            said.seek(0)
            raise Failed(f"{argv[0]} ended with {found['status']}: {said.read()[-500:]}")
    return Run(found["wall"], found["cpu"], found["rss_kib"] / 1024)
