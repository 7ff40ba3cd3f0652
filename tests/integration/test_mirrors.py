# SPDX-License-Identifier: Apache-2.0
"""Mirrors: containerd with the same hosts.toml files is the judge, of the verdict and of the host that decides."""

import base64
import dataclasses
import functools
import json
import os
import re
import shutil
import subprocess
import tomllib
import unittest

import world
from support import tool

NOWHERE = "127.0.0.1:1"


@functools.lru_cache(None)
def images():
    """Pushed once: good/both is on mirror and upstream, good/upstream on the latter alone."""
    world.mirror_client().push("good/both", "v1")
    world.client().push("prefix/good/both", "v1")
    world.client().push("good/upstream", "v1")
    return world.client().push("good/both", "v1")


def broken_authority():
    path = world.FOLDER / "broken-authority.pem"
    begin, end = ("-----%s CERTIFICATE-----\n" % word for word in ("BEGIN", "END"))
    path.write_text(f"{begin}AAAA\n{end}{world.authority().crt.read_text()}{begin}cut", encoding="utf-8")
    return path


def encrypted_key():
    path = world.FOLDER / "encrypted.key"
    subprocess.run(["openssl", "pkcs8", "-topk8", "-in", world.client_pair().key, "-out", path, "-passout", "pass:x"], check=True)
    return path


@dataclasses.dataclass
class Layout:
    """folders: hosts.toml text, or {file: path} to copy, or None for a link that leads nowhere, by folder. host: the server that decides, of
    equally bad ones the first; None: nobody is asked.
    differs: what containerd 1.6 says, where later versions, which we follow, pull.
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
    # 1.6 asks hosts on loopback without TLS, which the front refuses
    yield Layout("docker's layout", f"{tls}/good/both:v1", {tls: {"ca.crt": ca}}, "ok", tls, "400 Bad Request")
    yield Layout("a login in a URL", "docker.io/good/both:v1", hub(f'server = "http://u:p@{mirror}"'), "ok", mirror)
    yield Layout("a port that is none", f"{upstream}/good/both:v1",
                 {upstream: f'server = "http://{mirror}"\n[host."http://{mirror}x"]'}, "ok", upstream)
    yield Layout("a server without a host", f"{upstream}/good/both:v1", {upstream: 'server = "http://"'}, "ok", upstream)
    yield Layout("a folder that leads nowhere", "docker.io/good/both:v1",
                 {"docker.io": None, "_default": f'server = "http://{mirror}"'}, "ok", mirror)
    yield Layout("fields of the client's own", "docker.io/good/both:v1",
                 hub(f'server = "http://{mirror}"\n[header]\nHost = "nobody.test"\nContent-Length = "5"'), "ok", mirror)
    yield Layout("a good authority among broken ones", "docker.io/good/both:v1",
                 hub(f'server = "https://{tls}"\nca = "{broken_authority()}"'), "ok", tls)
    for name, field in (("name", '"a b" = "c"'), ("text", 'x = "a\\u000ab"')):
        yield Layout(f"a header's {name} that cannot be sent", f"{upstream}/good/both:v1",
                     {upstream: f'server = "http://{cache}"\n[host."http://{mirror}".header]\n{field}'}, "ok", cache)
    for name, key in (("the key of another", world.server_pair().key), ("an encrypted key", encrypted_key())):
        yield Layout(name, "docker.io/good/both:v1",
                     hub(f'server = "http://{mirror}"\n[host."https://{tls}"]\nca = "{ca}"\nclient = [["{pair.crt}", "{key}"]]'),
                     "unreachable", None)
    for name, clients_of in (("a key without a name", f'["{pair.crt}", ""]'),
                             ("a second certificate that is not there", f'["{pair.crt}", "{pair.key}"], ["none.crt", "{pair.key}"]')):
        yield Layout(name, "docker.io/good/both:v1",
                     hub(f'server = "http://{mirror}"\n[host."https://{tls}"]\nca = "{ca}"\nclient = [{clients_of}]'), "unreachable", None)
    yield Layout("keys in capitals", "docker.io/good/both:v1", hub(f'SERVER = "http://{mirror}"\nCAPABILITIES = ["pull", "resolve"]'),
                 "ok", mirror)
    yield Layout("a certificate without a key", f"{upstream}/good/both:v1", {upstream: {"client.cert": pair.crt}}, "unreachable", None)
    yield Layout("an authority that is not there", "docker.io/good/both:v1",
                 hub(f'server = "https://{tls}"\nca = "missing.crt"'), "unreachable", None)


def write(root, folders):
    for name, content in folders.items():
        folder = root / name
        if content is None:
            root.mkdir(exist_ok=True)
            folder.symlink_to("nowhere")
            continue
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
                elif world.containerd().version().startswith("1.6."):
                    pulled, said = world.containerd().pulls(layout.image, world.PLATFORM, hosts_dir=root)
                    self.assertFalse(pulled, "it differs no more")
                    self.assertIn(layout.differs, said)
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


class Imports(unittest.TestCase):
    """config.toml with the files that it imports: `containerd config dump` is the judge of what counts."""

    PLUGIN = 'plugins."io.containerd.grpc.v1.cri"'

    def mirror(self, host):
        return f'version = 2\n[{self.PLUGIN}.registry.mirrors."docker.io"]\nendpoint = ["http://{host}"]\n'

    def rows(self, folder):
        """(name, {file: text}); the last file read has the mirror that counts, at port 9."""
        first, last, bare = self.mirror("127.0.0.1:1"), self.mirror("127.0.0.1:9"), f'version = 2\n[{self.PLUGIN}]\nsandbox_image = "p"\n'
        pattern = f'version = 2\nimports = ["{folder}/d/*.toml"]\n'
        yield "a pattern", {"config.toml": pattern, "d/a.toml": last, "d/b.txt": first}
        yield "beside the file, and further", {"config.toml": 'version = 2\nimports = ["d/a.toml"]\n', "d/a.toml": 'version = 2\n'
                                               'imports = ["b.toml"]\n', "d/b.toml": last}
        yield "one another", {"config.toml": f'version = 2\nimports = ["{folder}/a.toml"]\n',
                              "a.toml": f'imports = ["{folder}/config.toml"]\n{last}'}
        yield "a table that is replaced", {"config.toml": f'imports = ["{folder}/a.toml"]\n{bare}', "a.toml": last}
        yield "a pattern that nothing matches", {"config.toml": pattern}
        yield "a file that is not there", {"config.toml": 'version = 2\nimports = ["nowhere.toml"]\n'}
        yield "a file that is no TOML", {"config.toml": 'version = 2\nimports = ["a.toml"]\n', "a.toml": "version ="}

    def dump(self, path):
        """The endpoints for Docker Hub, or None where containerd does not start with the file."""
        done = subprocess.run([tool("containerd"), "--config", path, "config", "dump"], capture_output=True, text=True, check=False,
                              timeout=60, cwd="/")
        if done.returncode:
            return None
        plugin = tomllib.loads(done.stdout)["plugins"]["io.containerd.grpc.v1.cri"]
        return plugin["registry"]["mirrors"].get("docker.io", {}).get("endpoint", [])

    def explain(self, path):
        done = world.imgcheck("explain", "--format", "json", "--containerd-config", path, "docker.io/a/b:v1")
        if done.returncode:
            self.assertEqual(done.returncode, 2)
            return None
        return [e["url"].split("/v2/")[0] for e in json.loads(done.stdout)["endpoints"] if e["mirror"]]

    def test_containerd_and_imgcheck_agree(self):
        folder = world.FOLDER / "imports"
        for name, files in self.rows(folder):
            shutil.rmtree(folder, ignore_errors=True)
            with self.subTest(name):
                for file, text in files.items():
                    (folder / file).parent.mkdir(parents=True, exist_ok=True)
                    (folder / file).write_text(text, encoding="utf-8")
                self.assertEqual(self.explain(folder / "config.toml"), self.dump(folder / "config.toml"))

    def test_where_releases_disagree_nothing_is_guessed(self):
        """And what containerd itself says may be given instead."""
        folder = world.FOLDER / "imports-both"
        folder.mkdir()
        (folder / "config.toml").write_text(f'imports = ["{folder}/a.toml"]\n{self.mirror("127.0.0.1:1")}', encoding="utf-8")
        (folder / "a.toml").write_text(self.mirror("127.0.0.1:9"), encoding="utf-8")
        done = world.imgcheck("explain", "--containerd-config", folder / "config.toml", "docker.io/a/b:v1")
        self.assertEqual(done.returncode, 2)
        self.assertIn(f"{folder}/a.toml:2:", done.stderr)
        self.assertIn("containerd config dump", done.stderr)
        said = subprocess.run([tool("containerd"), "--config", folder / "config.toml", "config", "dump"], capture_output=True, text=True,
                              check=True, timeout=60).stdout
        (folder / "dump.toml").write_text(re.sub(r"^imports = .*$", "", said, flags=re.M), encoding="utf-8")
        self.assertEqual(self.explain(folder / "dump.toml"), ["http://127.0.0.1:9"])


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
