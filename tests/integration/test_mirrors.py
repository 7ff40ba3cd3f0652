# SPDX-License-Identifier: Apache-2.0
"""Mirrors: containerd with the same hosts.toml files is the judge, of the verdict and of the host that decides."""

import base64
import dataclasses
import functools
import os
import shutil
import unittest

import world

NOWHERE = "127.0.0.1:1"


@functools.lru_cache(None)
def images():
    """Pushed once: good/both is on mirror and upstream, good/upstream on the latter alone."""
    world.mirror_client().push("good/both", "v1")
    world.client().push("prefix/good/both", "v1")
    world.client().push("good/upstream", "v1")
    return world.client().push("good/both", "v1")


@dataclasses.dataclass
class Layout:
    """folders: hosts.toml text, or {file: path} to copy, by folder. host: the server that decides, of
    equally bad ones the first; None: nobody is asked.
    differs: why containerd 1.6 is no judge, where it differs from later versions, which we follow.
    """
    name: str
    image: str
    folders: dict
    verdict: str
    host: str
    differs: str = ""


def layouts():
    upstream, mirror, cache = world.plain().host, world.mirror().host, world.cache().host
    tls, clients, ca = world.tls().host, world.tls_for_clients().host, world.authority().crt
    pair = world.client_pair()
    login = base64.b64encode(f"{world.USER}:{world.PASSWORD}".encode()).decode()
    closed = f"http://{NOWHERE}"
    digest = images().digest

    def hub(text):
        return {"docker.io": text}

    yield Layout("the mirror has it", "docker.io/good/both:v1", hub(f'[host."http://{mirror}"]'), "ok", mirror)
    yield Layout("the next host has it", "docker.io/good/upstream:v1",
                 hub(f'[host."http://{mirror}"]\n[host."http://{upstream}"]'), "ok", upstream)
    yield Layout("the server has it", "docker.io/good/upstream:v1",
                 hub(f'server = "http://{upstream}"\n[host."http://{mirror}"]'), "ok", upstream)
    yield Layout("nobody has it", "docker.io/good/none:v1",
                 hub(f'server = "http://{upstream}"\n[host."http://{mirror}"]'), "not-found", mirror)
    yield Layout("the mirror is down", "docker.io/good/both:v1",
                 hub(f'server = "http://{upstream}"\n[host."{closed}"]'), "ok", upstream)
    yield Layout("all are down", "docker.io/good/both:v1", hub(f'server = "{closed}"'), "unreachable", NOWHERE)
    yield Layout("a mirror that resolves no tags", "docker.io/good/both:v1",
                 hub(f'server = "http://{upstream}"\n[host."http://{mirror}"]\ncapabilities = ["pull"]'), "ok", upstream)
    yield Layout("a mirror that resolves no tags, by digest", f"docker.io/good/both@{digest}",
                 hub(f'server = "http://{upstream}"\n[host."http://{mirror}"]\ncapabilities = ["pull"]'), "ok", mirror)
    yield Layout("a path as it is", "docker.io/good/both:v1",
                 hub(f'server = "{closed}"\n[host."http://{upstream}/v2/prefix"]\noverride_path = true'), "ok", upstream)
    yield Layout("a path with v2 behind it", "docker.io/good/both:v1",
                 hub(f'server = "http://{mirror}"\n[host."http://{upstream}/v2/prefix"]'), "ok", mirror)
    yield Layout("a path that ends in v2", "docker.io/good/both:v1", hub(f'server = "http://{mirror}/v2/"'), "ok", mirror)
    yield Layout("the default folder", "registry.example/good/both:v1",
                 {"_default": f'server = "http://{mirror}"', "other.example": f'server = "{closed}"'}, "ok", mirror)
    yield Layout("a folder with a port", "registry.example:5000/good/both:v1",
                 {"registry.example_5000_": f'server = "http://{mirror}"', "registry.example:5000": f'server = "{closed}"'},
                 "ok", mirror)
    yield Layout("a folder with a colon", "registry.example:5000/good/both:v1",
                 {"registry.example:5000": f'server = "http://{mirror}"', "registry.example": f'server = "{closed}"'},
                 "ok", mirror)
    yield Layout("an own authority", "docker.io/good/both:v1", hub(f'server = "https://{tls}"\nca = "{ca}"'), "ok", tls)
    yield Layout("an unknown authority", "docker.io/good/both:v1", hub(f'server = "https://{tls}"'), "tls", tls)
    yield Layout("an unknown authority, then a good host", "docker.io/good/both:v1",
                 hub(f'server = "http://{mirror}"\n[host."https://{tls}"]'), "ok", mirror)
    yield Layout("verification skipped", "docker.io/good/both:v1", hub(f'server = "https://{tls}"\nskip_verify = true'), "ok", tls)
    yield Layout("a client certificate", "docker.io/good/both:v1",
                 hub(f'[host."https://{clients}"]\nca = ["{ca}"]\nclient = [["{pair.crt}", "{pair.key}"]]'), "ok", clients)
    yield Layout("a pull-through cache", "docker.io/good/upstream:v1", hub(f'server = "http://{cache}"'), "ok", cache)
    yield Layout("a header with a login", "docker.io/good/both:v1",
                 hub(f'server = "http://{world.htpasswd().host}"\n[header]\nAuthorization = "Basic {login}"'), "ok",
                 world.htpasswd().host)
    yield Layout("no login", "docker.io/good/both:v1", hub(f'server = "http://{world.htpasswd().host}"'), "unauthorized",
                 world.htpasswd().host)
    yield Layout("a file that is no TOML", f"{upstream}/good/both:v1", {upstream: f"server = {mirror}"}, "ok", upstream)
    yield Layout("docker's layout", f"{tls}/good/both:v1", {tls: {"ca.crt": ca}}, "ok", tls,
                 "asks hosts on loopback without TLS")
    yield Layout("an authority that is not there", "docker.io/good/both:v1",
                 hub(f'server = "https://{tls}"\nca = "missing.crt"'), "unreachable", None)


def write(root, folders):
    for name, content in folders.items():
        folder = root / name
        folder.mkdir(parents=True)
        if isinstance(content, str):
            # containerd 1.6 rejects a file without [host]
            text = content if "[host." in content or " = 127" in content else content + "\n[host]"
            (folder / "hosts.toml").write_text(text + "\n", encoding="utf-8")
        else:
            for file, path in content.items():
                shutil.copy(path, folder / file)
    return root


def served(host):
    """How many manifests the server has given to containerd."""
    for server in (world.plain(), world.mirror(), world.cache(), world.htpasswd()):
        if server.host == host:
            return sum(r.status == 200 and "/manifests/" in r.path and r.agent.startswith("containerd") for r in server.requests())
    front = world.tls() if world.tls().host == host else world.tls_for_clients()
    return sum(r.status == 200 and "/manifests/" in r.path for r in front.requests())


@unittest.skipUnless(os.geteuid() == 0, "only root can run containerd")
class Containerd(unittest.TestCase):
    def judge(self, layout, root):
        before = served(layout.host) if layout.verdict == "ok" else 0
        pulled, said = world.containerd().pulls(layout.image, world.PLATFORM, hosts_dir=root)
        self.assertEqual(pulled, layout.verdict == "ok", said)
        if pulled:
            self.assertGreater(served(layout.host), before, f"containerd: {said}")
        elif layout.host:
            self.assertIn({"not-found": "not found", "unreachable": "connection refused", "unauthorized": "401",
                           "tls": "certificate"}[layout.verdict], said)

    def test_containerd_and_imgcheck_agree(self):
        images()
        for i, layout in enumerate(layouts()):
            with self.subTest(layout.name):
                root = write(world.FOLDER / f"certs.d-{i}", layout.folders)
                if not layout.differs:
                    self.judge(layout, root)
                checked = world.check("--hosts-dir", root, "--image", layout.image)
                self.assertEqual((checked.one()["verdict"], checked.one()["host"]), (layout.verdict, layout.host),
                                 (checked.one()["reason"], checked.stderr))


class Words(unittest.TestCase):
    """What the hosts say that do not decide stands behind, whether they were asked before or after."""

    def test_other_hosts_are_named(self):
        images()
        upstream, mirror = world.plain().host, world.mirror().host
        rows = (("words-after", upstream, mirror, mirror, upstream), ("words-before", mirror, NOWHERE, mirror, NOWHERE))
        for folder, server, first, decides, other in rows:
            with self.subTest(folder):
                root = write(world.FOLDER / folder, {"docker.io": f'server = "http://{server}"\n[host."http://{first}"]'})
                checked = world.check("--hosts-dir", root, "--image", "docker.io/good/none:v1")
                self.assertEqual((checked.one()["verdict"], checked.one()["host"]), ("not-found", decides))
                self.assertRegex(checked.one()["reason"], f"; also {other}: .+")
                self.assertNotIn("before", checked.one()["reason"])


class Files(unittest.TestCase):
    """The same mirror, by each kind of file."""

    def verdict(self, option, text, image="docker.io/good/both:v1", *arguments):
        images()
        path = world.FOLDER / f"file-{option}"
        path.write_text(text, encoding="utf-8")
        checked = world.check(f"--{option}", path, "--image", image, *arguments)
        return checked

    def check_mirror(self, option, text):
        checked = self.verdict(option, text)
        self.assertEqual((checked.one()["verdict"], checked.one()["host"]), ("ok", world.mirror().host), checked.one()["reason"])

    def test_config_toml(self):
        self.check_mirror("containerd-config", f"""version = 2
[plugins."io.containerd.grpc.v1.cri".registry.mirrors."docker.io"]
endpoint = ["http://{world.mirror().host}"]
""")

    def test_registries_yaml_with_a_login(self):
        host = world.htpasswd().host
        checked = self.verdict("registries-yaml", f"""
mirrors:
  docker.io:
    endpoint: ["http://{host}"]
configs:
  "{host}":
    auth: {{username: {world.USER}, password: {world.PASSWORD}}}
""")
        self.assertEqual((checked.one()["verdict"], checked.one()["host"]), ("ok", host), checked.one()["reason"])
        self.assertIn("file-registries-yaml", checked.one()["credentials"])

    def test_registries_yaml_with_a_rewrite(self):
        checked = self.verdict("registries-yaml", f"""
mirrors:
  docker.io:
    endpoint: ["http://{world.plain().host}"]
    rewrite:
      "^(good/.*)": "prefix/$1"
""")
        self.assertEqual(checked.one()["verdict"], "ok", checked.one()["reason"])

    def test_custom_registries(self):
        ca = base64.b64encode(world.authority().crt.read_bytes()).decode()
        checked = self.verdict("custom-registries",
                               f'[{{"url": "https://{world.tls().host}", "host": "registry.example", "ca_file": "{ca}"}}]',
                               "registry.example/good/both:v1")
        self.assertEqual((checked.one()["verdict"], checked.one()["host"]), ("ok", world.tls().host), checked.one()["reason"])

    def test_a_mirror_is_required(self):
        text = f"""
mirrors:
  docker.io:
    endpoint: ["http://{world.mirror().host}"]
"""
        for image, verdict in (("docker.io/good/both:v1", "ok"), ("docker.io/good/none:v1", "not-found"),
                               ("quay.io/good/both:v1", "not-found")):
            with self.subTest(image):
                checked = self.verdict("registries-yaml", text, image, "--require-mirror")
                self.assertEqual(checked.one()["verdict"], verdict)
        self.assertIn("no mirror is configured for quay.io", checked.one()["reason"])

    def test_files_that_cannot_be_read_are_named(self):
        rows = (("containerd-config", "version = ", "file-containerd-config:1:11: cannot read this as TOML"),
                ("registries-yaml", "mirrors: [\n", "file-registries-yaml:2:1:"),
                ("custom-registries", '[{"url": "https://m", "password": "hunter2"', "cannot read JSON: it is not well-formed"),
                ("hosts-dir", "", "cannot read this folder"))
        for option, text, words in rows:
            with self.subTest(option):
                checked = self.verdict(option, text)
                self.assertEqual(checked.status, 2)
                self.assertIn(words, checked.stderr)
                self.assertNotIn("hunter2", checked.stderr)
