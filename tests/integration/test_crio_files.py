# SPDX-License-Identifier: Apache-2.0
"""Certificates and logins as CRI-O reads them: skopeo, which reads the same files with the same library, is the judge."""

import base64
import dataclasses
import functools
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import world
from support import built, schema, tool

IMAGE = "good/crio:v1"
NOWHERE = "127.0.0.1:1"


@functools.lru_cache(None)
def push():
    """On the plain registry, and on the mirror."""
    world.client().push("good/crio", "v1")
    world.mirror_client().push("good/crio", "v1")


class Judged(unittest.TestCase):
    """A folder of its own; home stands for that of whoever pulls, bin has helpers."""

    def setUp(self):
        push()
        folder = tempfile.TemporaryDirectory(dir=world.FOLDER)
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for name in ("bin", "home", "etc/containers/certs.d", "etc/docker/certs.d"):
            (self.folder / name).mkdir(parents=True)

    def write(self, name, content):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return path

    def run_in(self, *command):
        """With the folder's etc over the machine's, in a namespace of its own."""
        sanitizers = {key: value for key, value in os.environ.items() if key.endswith("SAN_OPTIONS")}
        return subprocess.run(["unshare", "--mount", "sh", "-c",
                               'mount -t overlay overlay -o lowerdir="$1":/etc /etc && shift && exec "$@"', "sh", self.folder / "etc",
                               *map(str, command)], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False,
                              cwd=self.folder, env=sanitizers | {"PATH": f"{self.folder}/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                                                                 "HOME": str(self.folder / "home")})

    def skopeo(self, host, *arguments):
        done = self.run_in(tool("skopeo"), "--insecure-policy", "--registries-conf", self.folder / "registries.conf", "copy", "--quiet",
                           *arguments, f"docker://{host}/{IMAGE}", f"dir:{self.folder}/copy")
        return done.returncode == 0, done.stderr

    def imgcheck(self, host, *arguments):
        done = self.run_in(os.path.abspath(built("imgcheck")), "check", "--runtime", "crio", "--format", "json", "--platform",
                           world.PLATFORM, "--registries-conf", self.folder / "registries.conf", *arguments, "--image",
                           f"{host}/{IMAGE}")
        self.assertNotIn("Sanitizer", done.stderr)
        return done

    def check(self, host, *arguments):
        """(the image's part of the report, what was found on the way)"""
        done = self.imgcheck(host, *arguments)
        self.assertTrue(done.stdout, done.stderr)
        report = schema.validate(json.loads(done.stdout))
        return report["images"][0], " ".join(problem["message"] for problem in report["problems"])


@dataclasses.dataclass
class Layout:
    """containers, docker: files below each certs.d, {path: file to copy, text, None for a folder, or what a link
    leads to}. conf: registries.conf. words: part of our reason, where it is not ok.
    """
    name: str
    host: str
    containers: dict
    docker: dict
    ok: bool
    words: str = ""
    conf: str = ""


def layouts():
    tls, clients, ca = world.tls().host, world.tls_for_clients().host, world.authority().crt
    pair, other = world.client_pair(), world.server_pair()
    authority = {f"{tls}/ca.crt": ca}
    mutual = {f"{clients}/ca.crt": ca, f"{clients}/client.cert": pair.crt, f"{clients}/client.key": pair.key}
    insecure = f'[[registry]]\nlocation = "{tls}"\ninsecure = true\n'
    nobody = "certificate"

    yield Layout("nothing", tls, {}, {}, False, nobody)
    yield Layout("an authority", tls, authority, {}, True)
    yield Layout("an authority, in docker's folder", tls, {}, authority, True)
    yield Layout("a folder that has the host hides the next", tls, {f"{tls}/": None}, authority, False, nobody)
    yield Layout("a folder that has another host does not", tls, {"127.0.0.1/": None}, authority, True)
    yield Layout("the host without its port", tls, {"127.0.0.1/ca.crt": ca}, {}, False, nobody)
    yield Layout("the name of containerd's folders", tls, {f"{tls.replace(':', '_')}_/ca.crt": ca}, {}, False, nobody)
    yield Layout("another ending", tls, {f"{tls}/ca.pem": ca}, {}, False, nobody)
    yield Layout("an authority beside rubbish", tls, authority | {f"{tls}/a.crt": "rubbish"}, {}, True)
    yield Layout("an authority beside a link to nothing", tls, authority | {f"{tls}/a.crt": pathlib.Path("nowhere")}, {}, True)
    yield Layout("an authority beside a folder that looks like one", tls, authority | {f"{tls}/a.crt/": None}, {}, False, "a.crt")
    yield Layout("a client certificate", clients, mutual, {}, True)
    yield Layout("a client certificate that nobody asks for", tls, authority | {f"{tls}/x.cert": pair.crt, f"{tls}/x.key": pair.key}, {},
                 True)
    yield Layout("no client certificate", clients, {f"{clients}/ca.crt": ca}, {}, False, "400")
    yield Layout("a client certificate without key", tls, authority | {f"{tls}/x.cert": pair.crt}, {}, False, "x.key")
    yield Layout("a key without certificate", tls, authority | {f"{tls}/x.key": pair.key}, {}, False, "x.cert")
    yield Layout("a key whose certificate ends as an authority's", clients,
                 {f"{clients}/ca.crt": ca, f"{clients}/client.crt": pair.crt, f"{clients}/client.key": pair.key}, {}, False, "client.cert")
    yield Layout("the key of another certificate", tls, authority | {f"{tls}/x.cert": pair.crt, f"{tls}/x.key": other.key}, {}, False,
                 "key")
    yield Layout("rubbish for a client certificate", tls, authority | {f"{tls}/x.cert": "rubbish", f"{tls}/x.key": "rubbish"}, {}, False,
                 "x.key")
    yield Layout("no verification", tls, {}, {}, True, conf=insecure)
    yield Layout("no verification, but a broken folder", tls, {f"{tls}/x.cert": pair.crt}, {}, False, "x.key", insecure)
    yield Layout("no verification, the keys in another case", tls, {}, {}, True,
                 conf=f'[[Registry]]\nLOCATION = "{tls}"\nInsecure = true\n')
    yield Layout("a mirror with a broken folder", world.plain().host, {f"{tls}/x.cert": pair.crt}, {}, True,
                 conf=f'[[registry]]\nlocation = "{world.plain().host}"\ninsecure = true\n[[registry.mirror]]\nlocation = "{tls}"\n')
    yield Layout("a mirror's location that ends in a slash", world.plain().host, {}, {}, False, "makes",
                 f'[[registry]]\nlocation = "{world.plain().host}"\ninsecure = true\n[[registry.mirror]]\nlocation = "{tls}/"\n')


def places():
    """What registries.conf makes of a name: who is blocked, and which of several entries counts."""
    plain, mirror, name = world.plain().host, world.mirror().host, "registry.example"

    def entry(location, *keys, prefix=None, mirrors=()):
        text = [f'[[registry]]\nprefix = "{prefix or location}"\nlocation = "{location}"\ninsecure = true', *keys]
        text += [f'[[registry.mirror]]\nlocation = "{m}"\ninsecure = true' for m in mirrors]
        return "\n".join(text) + "\n"

    blocked = "blocked = true"
    yield Layout("blocked, with a mirror", name, {}, {}, True, conf=entry(name, blocked, mirrors=[plain]))
    yield Layout("blocked, with a mirror that has nothing", name, {}, {}, False, "also registry.example: registries.conf blocks it",
                 entry(name, blocked, mirrors=[f"{plain}/nothing"]))
    yield Layout("a mirror that is blocked itself", NOWHERE, {}, {}, False, f"also {plain}: registries.conf blocks it",
                 entry(NOWHERE, mirrors=[plain]) + entry(plain, blocked))
    yield Layout("a mirror that is blocked itself, then another", NOWHERE, {}, {}, True,
                 conf=entry(NOWHERE, mirrors=[plain, mirror]) + entry(plain, blocked))
    yield Layout("blocked, but led elsewhere", name, {}, {}, True, conf=entry(plain, blocked, prefix=name))
    yield Layout("led to what is blocked", name, {}, {}, False, f"registries.conf blocks {plain}",
                 entry(plain, prefix=name) + entry(mirror, blocked, prefix=plain))
    yield Layout("the first of two entries", name, {}, {}, True, conf=entry(plain, prefix=name) + entry(NOWHERE, prefix=name))
    yield Layout("two entries that contradict each other", name, {}, {}, False, "",
                 entry(plain, prefix=name) + entry(plain, blocked, prefix="other.example"))
    yield Layout("pull-from-mirror of a registry", plain, {}, {}, False, "", entry(plain, 'pull-from-mirror = "all"'))
    yield Layout("a wildcard with a port", plain, {}, {}, False, "", entry(plain) + entry(plain, prefix="*.example:5000"))


@unittest.skipUnless(os.geteuid() == 0, "only root can make a namespace with an /etc of its own")
class Places(Judged):
    def test_skopeo_and_imgcheck_agree(self):
        for layout in places():
            with self.subTest(layout.name):
                self.write("registries.conf", layout.conf)
                pulled, said = self.skopeo(layout.host)
                self.assertEqual(pulled, layout.ok, said)
                if not layout.ok and not layout.words:
                    self.assertIn("loading registries configuration", said)
                    done = self.imgcheck(layout.host)
                    self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
                    continue
                image, _ = self.check(layout.host)
                self.assertEqual(image["verdict"] == "ok", layout.ok, image["reason"])
                self.assertIn(layout.words, image["reason"] or "")


@unittest.skipUnless(os.geteuid() == 0, "only root can make a namespace with an /etc of its own")
class Certificates(Judged):
    def make(self, root, files):
        shutil.rmtree(root)
        root.mkdir()
        for name, content in files.items():
            path = root / name
            (path if content is None else path.parent).mkdir(parents=True, exist_ok=True)
            if isinstance(content, str):
                path.write_text(content, encoding="utf-8")
            elif content is not None and content.is_absolute():
                shutil.copy(content, path)
            elif content is not None:
                path.symlink_to(content)

    def test_skopeo_and_imgcheck_agree(self):
        roots = [self.folder / "etc" / name / "certs.d" for name in ("containers", "docker")]
        flags = [part for root in roots for part in ("--certs-dir", f"/{root.relative_to(self.folder)}")]
        for layout in layouts():
            with self.subTest(layout.name):
                for root, files in zip(roots, (layout.containers, layout.docker)):
                    self.make(root, files)
                self.write("registries.conf", layout.conf)
                pulled, said = self.skopeo(layout.host)
                self.assertEqual(pulled, layout.ok, said)
                image, _ = self.check(layout.host, *flags)
                self.assertEqual(image["verdict"] == "ok", layout.ok, image["reason"])
                self.assertIn(layout.words, image["reason"] or "")

    def test_without_the_option_nothing_is_read(self):
        """Else a hook, which has no such folder, would say something else than the command."""
        tls = world.tls().host
        self.make(self.folder / "etc" / "containers" / "certs.d", {f"{tls}/ca.crt": world.authority().crt})
        self.write("registries.conf", "")
        self.assertTrue(self.skopeo(tls)[0])
        self.assertEqual(self.check(tls)[0]["verdict"], "tls")

    def test_what_is_passed_over_is_told_with_its_file(self):
        tls, root = world.tls().host, self.folder / "etc" / "docker" / "certs.d"
        self.make(root, {f"{tls}/ca.crt": world.authority().crt, f"{tls}/a.crt": "rubbish"})
        self.write("registries.conf", "")
        image, told = self.check(tls, "--certs-dir", root)
        self.assertEqual(image["verdict"], "ok")
        self.assertIn("no authority is taken from this file", told)

    def test_a_folder_that_is_not_there(self):
        done = self.run_in(os.path.abspath(built("imgcheck")), "check", "--runtime", "crio", "--certs-dir", "nowhere", "--image", "x.test/a:v1")
        self.assertEqual(done.returncode, 2)
        self.assertIn("nowhere: cannot read this folder", done.stderr)


def encode(text):
    return base64.b64encode(text.encode()).decode()


@dataclasses.dataclass
class Lookup:
    """first: auth.json; second: docker's config.json; words: part of our reason where it is not ok."""
    name: str
    first: dict
    second: dict
    ok: bool
    words: str = "401"
    conf: str = ""


def lookups():
    host = world.htpasswd().host
    good, wrong = {host: {"auth": encode(f"{world.USER}:{world.PASSWORD}")}}, {host: {"auth": encode("x:y")}}
    failed, unpadded = "cannot ask docker-credential-bad", encode(f"{world.USER}:{world.PASSWORD}").rstrip("=")

    def helper(name):
        return {"credHelpers": {host: name}}

    yield Lookup("an entry", {"auths": good}, {}, True)
    yield Lookup("an entry of the second file", {}, {"auths": good}, True)
    yield Lookup("a helper goes before an entry", helper("good") | {"auths": wrong}, {}, True)
    yield Lookup("also when it is wrong", helper("wrong") | {"auths": good}, {}, False)
    yield Lookup("a helper that knows none hides its file's entries", helper("none") | {"auths": good}, {}, False)
    yield Lookup("a helper that knows none passes on to the next file", helper("none"), {"auths": good}, True)
    yield Lookup("a helper with empty words passes on", helper("empty"), {"auths": good}, True)
    yield Lookup("a helper that fails ends it", helper("bad"), {"auths": good}, False, failed)
    yield Lookup("a helper that is not there ends it", helper("nowhere"), {"auths": good}, False, "docker-credential-nowhere")
    yield Lookup("a store is not asked", {"credsStore": "good"}, {}, False)
    yield Lookup("a store hides nothing", {"credsStore": "wrong", "auths": good}, {}, True)
    yield Lookup("a helper for a path is none", {"credHelpers": {f"{host}/good": "good"}}, {}, False)
    yield Lookup("a helper for a URL is none", {"credHelpers": {f"https://{host}": "good"}}, {}, False)
    yield Lookup("an empty entry passes on", {"auths": {host: {}}}, {"auths": good}, True)
    yield Lookup("an empty entry for the path hides the host's", {"auths": {f"{host}/good": {}} | good}, {}, False)
    yield Lookup("an empty password is one", {"auths": {host: {"auth": encode("u:")}}}, {"auths": good}, False)
    yield Lookup("members that are not read", {"auths": {host: {"username": world.USER, "password": world.PASSWORD}}}, {}, False)
    yield Lookup("members in another case", {"Auths": {host: {"AUTH": good[host]["auth"]}}}, {}, True)
    yield Lookup("base64 in lines", {"auths": {host: {"auth": good[host]["auth"][:8] + "\n" + good[host]["auth"][8:]}}}, {}, True)
    yield Lookup("base64 without padding", {"auths": {host: {"auth": unpadded}}}, {"auths": good}, False, "base64 without padding")
    yield Lookup("a helper of registries.conf", {}, {}, True, conf='credential-helpers = ["good"]')
    yield Lookup("a helper of registries.conf instead of files", {"auths": good}, {}, False, conf='credential-helpers = ["none"]')
    yield Lookup("files, then a helper", {}, {}, True, conf='credential-helpers = ["containers-auth.json", "good"]')
    yield Lookup("a helper, then files", {"auths": wrong}, {}, True, conf='credential-helpers = ["good", "containers-auth.json"]')
    yield Lookup("one that fails, then another", {}, {}, True, conf='credential-helpers = ["bad", "good"]')
    yield Lookup("one that fails, then files", {"auths": good}, {}, True, conf='credential-helpers = ["bad", "containers-auth.json"]')
    yield Lookup("one that fails, and no other", {}, {}, False, failed, 'credential-helpers = ["bad", "containers-auth.json"]')


@unittest.skipUnless(os.geteuid() == 0, "only root can make a namespace with an /etc of its own")
class Logins(Judged):
    def setUp(self):
        super().setUp()
        login = json.dumps({"Username": world.USER, "Secret": world.PASSWORD})
        scripts = {"good": f"echo '{login}'", "bad": "exit 1", "none": "echo credentials not found in native keychain; exit 1",
                   "wrong": 'echo \'{"Username": "x", "Secret": "y"}\'', "empty": 'echo \'{"Username": "", "Secret": ""}\''}
        for name, script in scripts.items():
            self.write(f"bin/docker-credential-{name}",
                       f'#!/bin/sh\nread -r server; echo "$server" >> {self.folder}/asked\n{script}\n').chmod(0o755)

    def asked(self):
        """What helpers were asked for since the last call."""
        path = self.folder / "asked"
        servers = path.read_text(encoding="utf-8").split() if path.exists() else []
        path.unlink(missing_ok=True)
        return servers

    def judge(self, host, name, first, second, conf, ok):
        self.write("registries.conf", conf + "\n")
        self.write("auth.json", first)
        self.write("home/.docker/config.json", second)
        with self.subTest(name):
            pulled, said = self.skopeo(host, "--src-tls-verify=false", "--authfile", self.folder / "auth.json")
            self.servers = self.asked()
            self.assertEqual(pulled, ok, said)
            image, _ = self.check(host, "--authfile", self.folder / "auth.json", "--authfile", self.folder / "home/.docker/config.json",
                                  "--plain-http", world.htpasswd().host, "--plain-http", world.mirror().host)
            self.assertEqual(image["verdict"] == "ok", ok, image["reason"])
            # we find all logins before anybody is asked, skopeo a place's when it comes to it
            self.assertEqual(self.asked()[:len(self.servers)], self.servers, "the same helpers for the same servers")
            return image
        return {}

    def test_skopeo_and_imgcheck_agree(self):
        for row in lookups():
            image = self.judge(world.htpasswd().host, row.name, row.first, row.second, row.conf, row.ok)
            with self.subTest(row.name):
                self.assertIn("" if row.ok else row.words, image.get("reason") or "")

    def test_a_mirror_has_its_own_login(self):
        mirror, private = world.mirror().host, world.htpasswd().host
        good = {private: {"auth": encode(f"{world.USER}:{world.PASSWORD}")}}
        conf = f'[[registry]]\nlocation = "{mirror}"\n[[registry.mirror]]\nlocation = "{private}"'
        rows = (("its entry", {"auths": good}, private), ("its helper", {"credHelpers": {private: "good"}}, private),
                ("its helper fails: the next place", {"credHelpers": {private: "bad"}}, mirror),
                ("the registry's helper fails: the mirror has it", {"credHelpers": {mirror: "bad"}, "auths": good}, private))
        for name, first, decides in rows:
            image = self.judge(mirror, name, first, {}, conf, True)
            with self.subTest(name):
                self.assertEqual(image["host"], decides)

    def test_docker_hub_is_asked_for_by_its_name(self):
        for key, server in (("docker.io", ["docker.io"]), ("https://index.docker.io/v1/", []), ("index.docker.io", [])):
            self.judge("docker.io", key, {"credHelpers": {key: "bad"}}, {}, '[[registry]]\nlocation = "docker.io"\n[[registry.mirror]]\nlocation = "127.0.0.1:1"', False)
            with self.subTest(key):
                self.assertEqual(self.servers, server)
