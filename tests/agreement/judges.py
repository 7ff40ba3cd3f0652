# SPDX-License-Identifier: Apache-2.0
"""Who judges an image: imgcheck, containerd and skopeo, each asked in its own words for the same thing."""

import contextlib
import dataclasses
import pathlib
import shutil
import subprocess
import tempfile

import world
from support import tool
from support.fault import Fault

from shelf import NAME, TAG


@dataclasses.dataclass
class Place:
    """Where an image is, and how it is asked for. ca: a file, for https; login: (user, password)."""
    host: str
    image: str
    ca: object = None
    login: tuple = None


@dataclasses.dataclass
class Row:
    """One image.

    place: gives a context manager that gives a Place, anew for each judge, since some servers answer the
    first request otherwise than the second.
    verdict: ours; several where chance decides. ctr, skopeo: why this one comes to another end than we do.
    """
    name: str
    verdict: str
    place: object
    depth: str = "blobs"
    ctr: str = ""
    skopeo: str = ""


def at(place):
    """A place that any number of judges may visit."""
    return lambda: contextlib.nullcontext(place)


def served(shelf, rules="", pair=None, ca=None, login=None, reference=f":{TAG}", named=False):
    """The shelf on a fault server with these rules in front; named: asked by a name that nodes trust only by TLS."""
    @contextlib.contextmanager
    def place():
        with tempfile.TemporaryDirectory(dir=world.FOLDER) as folder:
            folder = pathlib.Path(folder)
            with Fault(folder, shelf.script(folder, rules), pair=pair) as server:
                host = server.host
                yield Place(world.named(host) if named else host, NAME + reference, ca, login)
    return place


def imgcheck(place, depth, *options):
    """(verdict, reason)"""
    arguments = ["--cacert", place.ca] if place.ca else ["--plain-http", place.host]
    if place.login:
        arguments += ["--registry", place.host, "--creds", ":".join(place.login)]
    checked = world.check("--deadline", 15, "--depth", depth, *options, *arguments, "--image", f"{place.host}/{place.image}")
    if checked.status == 70 or not checked.report:
        return "internal-error", checked.stderr
    return checked.one()["verdict"], checked.one().get("reason") or ""


def last_line(words):
    return (words.strip().splitlines() or ["failed"])[-1]


def ctr(place):
    """"" or what went wrong."""
    arguments = ["--tlscacert", place.ca] if place.ca else ["--plain-http"]
    if place.login:
        arguments += ["--user", ":".join(place.login)]
    try:
        pulled, words = world.containerd().pulls(f"{place.host}/{place.image}", world.PLATFORM, *arguments)
    except subprocess.TimeoutExpired as late:
        return str(late)
    return "" if pulled else last_line(words)


def skopeo(place):
    """"" or what went wrong."""
    with tempfile.TemporaryDirectory(dir=world.FOLDER) as folder:
        arguments = ["--src-tls-verify=false"]
        if place.ca:
            shutil.copy(place.ca, f"{folder}/ca.crt")
            arguments = ["--src-cert-dir", folder]
        arguments += ["--src-creds", ":".join(place.login)] if place.login else ["--src-no-creds"]
        system, architecture = world.PLATFORM.split("/")
        try:
            done = subprocess.run([tool("skopeo"), "--insecure-policy", "--override-os", system,
                                   "--override-arch", architecture, "copy", "--quiet", *arguments,
                                   f"docker://{place.host}/{place.image}", f"dir:{folder}/copy"], stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, timeout=20, check=False)
        except subprocess.TimeoutExpired:
            return "no end within 20 s"
    return "" if done.returncode == 0 else last_line(done.stderr)
