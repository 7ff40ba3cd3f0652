# SPDX-License-Identifier: Apache-2.0
"""No password and no token in anything that a run leaves behind."""

import base64
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import unittest

import world
from support import built
from support.freed import Freed

# One for each way in, so that a leak names its way.
SECRETS = {name: f"secret-of-{name}-x" for name in ("creds", "authfile", "secret", "helper", "yaml", "header", "proxy", "all-proxy",
                                                    "custom", "identity", "url")}
FORMATS = ("text", "json")


def login(name):
    return base64.b64encode(f"{world.USER}:{SECRETS[name]}".encode()).decode()


class Secrets(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = world.FOLDER / "secrets"
        if self.folder.exists():
            return
        (self.folder / "bin").mkdir(parents=True)
        (self.folder / "certs.d" / "header.test").mkdir(parents=True)
        host = world.htpasswd().host
        self.write("auth.json", json.dumps({"auths": {host: {"auth": login("authfile"), "identitytoken": SECRETS["identity"]}},
                                            "credHelpers": {"helper.test": "tests"}}))
        self.write("registries.yaml", json.dumps({"mirrors": {"yaml.test": {"endpoint": [f"http://{host}", f"http://u:{SECRETS['url']}@a_b"]}},
                                                  "configs": {host: {"auth": {"username": "u", "password": SECRETS["yaml"]}}}}))
        self.write("custom.json", json.dumps([{"url": f"http://{host}", "host": "custom.test", "username": "u",
                                               "password": SECRETS["custom"]}]))
        self.write("certs.d/header.test/hosts.toml",
                   f'server = "http://{host}"\n[header]\nAuthorization = "Basic {login("header")}"\n')
        # a host that is asked without the login in its URL, and one that cannot be asked
        for folder, name in (("url.test", host), ("no-url.test", "a_b")):
            (self.folder / "certs.d" / folder).mkdir()
            self.write(f"certs.d/{folder}/hosts.toml", f'server = "http://{host}"\n[host."http://u:{SECRETS["url"]}@{name}"]\n')
        config = json.dumps({"auths": {host: {"username": "u", "password": SECRETS["secret"]}}})
        self.write("pod.yaml", f"""
kind: Secret
metadata: {{name: pull}}
type: kubernetes.io/dockerconfigjson
data: {{.dockerconfigjson: {base64.b64encode(config.encode()).decode()}}}
---
kind: Pod
metadata: {{name: p}}
spec:
  imagePullSecrets: [{{name: pull}}]
  containers: [{{name: c, image: '{host}/good/pod:v1'}}]
""")
        path = self.write("bin/docker-credential-tests", f"""#!/bin/sh
echo '{{"Username": "u", "Secret": "{SECRETS["helper"]}"}}'
""")
        path.chmod(0o755)

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def run_command(self, command, *arguments):
        env = {key: value for key, value in os.environ.items() if key.endswith("SAN_OPTIONS")}
        env |= {"PATH": f"{self.folder}/bin:/usr/bin:/bin", "SSLKEYLOGFILE": str(self.folder / "keys"),
                "ALL_PROXY": f"http://u:{SECRETS['all-proxy']}@127.0.0.1:1", "TMPDIR": str(self.folder)}
        return subprocess.run([os.path.abspath(built("imgcheck")), command, *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=60, check=False, env=env, cwd=self.folder)

    def ways(self):
        host, tls = world.htpasswd().host, world.tls().host
        plain = ["--plain-http", host]
        files = ["--authfile", "auth.json", "--registries-yaml", "registries.yaml", "--custom-registries", "custom.json",
                 "--hosts-dir", "certs.d"]
        proxy = ["--proxy", f"http://u:{SECRETS['proxy']}@127.0.0.1:1"]
        yield [*plain, "--registry", host, "--creds", f"{world.USER}:{SECRETS['creds']}"], [f"{host}/good/image:v1"]
        yield [*plain, *files, *proxy], [f"{host}/good/image:v1", "yaml.test/good/image:v1", "custom.test/good/image:v1",
                                         "header.test/good/image:v1", "helper.test/good/image:v1", "url.test/good/image:v1",
                                         "no-url.test/good/image:v1"]
        yield [*files, "--cacert", world.authority().crt], [f"{tls}/good/image:v1"]

    def check_nothing_leaks(self, done):
        for name, secret in SECRETS.items():
            for form in (secret, base64.b64encode(secret.encode()).decode().rstrip("="), login(name).rstrip("=")):
                self.assertNotIn(form, done.stdout + done.stderr, f"the secret of {name}")
        self.assertFalse((self.folder / "keys").exists(), "keys of TLS sessions")
        self.assertNotIn("ERROR: AddressSanitizer", done.stderr)

    def test_reports_and_errors_hold_no_secret(self):
        for arguments, images in self.ways():
            for form in FORMATS:
                with self.subTest(arguments=arguments, form=form):
                    named = [part for image in images for part in ("--image", image)]
                    done = self.run_command("check", "--format", form, *arguments, *named)
                    self.assertIn(done.returncode, (1, 3, 4), done.stderr)
                    self.assertTrue(done.stdout)
                    self.check_nothing_leaks(done)

    def test_a_secret_among_the_manifests(self):
        host = world.htpasswd().host
        for form in FORMATS:
            done = self.run_command("check", "--format", form, "--plain-http", host, "pod.yaml")
            self.assertEqual(done.returncode, 3, done.stderr)
            self.check_nothing_leaks(done)
            if form == "json":
                (image,) = json.loads(done.stdout)["images"]
                self.assertIn("Secret pull in pod.yaml", image["credentials"])

    def test_explain_tells_where_from_and_no_more(self):
        for arguments, images in self.ways():
            for form in FORMATS:
                done = self.run_command("explain", "--format", form, *arguments, *images)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.check_nothing_leaks(done)

    def test_files_with_a_mistake_behind_a_secret(self):
        for option, name in (("authfile", "auth.json"), ("registries-yaml", "registries.yaml"), ("custom-registries", "custom.json")):
            for cut in (1, 3, 10):
                with self.subTest(option=option, cut=cut):
                    text = (self.folder / name).read_text(encoding="utf-8")
                    path = self.write(f"cut-{name}", text[:-cut])
                    done = self.run_command("check", f"--{option}", path, "--image", "x.test/a:v1")
                    self.assertEqual(done.returncode, 2, done.stdout)
                    self.assertIn(f"cut-{name}", done.stderr)
                    self.check_nothing_leaks(done)

    def test_a_helper_that_fails_asks_nobody(self):
        before, host, secret = len(world.htpasswd().requests()), world.htpasswd().host, SECRETS["helper"]
        rows = (("garbage", f"echo {secret}", "not an object"), ("too-much", f"exec yes {secret}", "printed too much"),
                ("fails", f"echo {secret}; echo {secret} >&2; exit 9", "exit status 9"), ("dies", "kill -11 $$", "signal 11"))
        for name, script, words in rows:
            with self.subTest(name):
                self.write(f"bin/docker-credential-{name}", f"#!/bin/sh\n{script}\n").chmod(0o755)
                path = self.write(f"{name}.json", json.dumps({"credHelpers": {host: name}}))
                done = self.run_command("check", "--authfile", path, "--plain-http", host, "--image", f"{host}/good/image:v1")
                self.assertEqual(done.returncode, 4, done.stderr)
                self.assertIn(f"docker-credential-{name}", done.stdout)
                self.assertIn(words, done.stdout)
                self.check_nothing_leaks(done)
        self.assertEqual(len(world.htpasswd().requests()), before)


class Leftovers(Secrets):
    """No block of memory that our own code gives back still holds one."""

    def setUp(self):
        super().setUp()
        if not Freed.program():
            self.skipTest("build/release is not built")

    def texts(self):
        """In each form in which it stands in a file or a request; and any token of the registry's."""
        pod = (self.folder / "pod.yaml").read_text(encoding="utf-8")
        return [*(form for name, secret in SECRETS.items() for form in (secret, login(name).rstrip("="))),
                re.search(r"dockerconfigjson: (\S{40})", pod)[1], world.PASSWORD,
                base64.b64encode(f"{world.USER}:{world.PASSWORD}".encode()).decode(), "Bearer ey"]

    def run_command(self, command, *arguments):
        freed = Freed(self.folder, self.texts())
        done = subprocess.run([Freed.program(), command, *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=60, check=False, env={"PATH": f"{self.folder}/bin:/usr/bin:/bin"} | freed.environment(),
                              cwd=self.folder)
        self.lines = freed.lines()
        self.assertEqual(freed.ours(), [])
        return done

    def test_a_token(self):
        place = world.token_with_logins()
        checked = self.run_command("check", "--registry", place.front.host, "--creds", f"{world.USER}:{world.PASSWORD}", "--cacert",
                                   world.authority().crt, "--image", f"{place.front.host}/good/image:v1")
        self.assertIn(checked.returncode, (0, 1), checked.stdout)
        self.assertTrue(self.lines, "libcurl keeps what it sends; were nothing found, nothing would have been looked for")


class Memory(unittest.TestCase):
    """What a process with secrets leaves when it is killed, and shows to others of its user while it waits for an answer."""

    # Root reads everything, so root becomes another user.
    AS_USER = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if os.geteuid() == 0 else []

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="imgcheck-memory-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.folder.chmod(0o777)
        for path in (built("imgcheck"), *pathlib.Path(built("imgcheck")).parent.glob("libimgcheck.so.*")):
            shutil.copy(path, self.folder)

    def start(self, *command):
        """It may write a core; a sanitizer would forbid that by itself."""
        return subprocess.Popen(["sh", "-c", 'ulimit -c unlimited; exec "$@"', "sh", *self.AS_USER, *map(str, command)],
                                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=self.folder,
                                env={"PATH": "/usr/bin:/bin", "ASAN_OPTIONS": "disable_coredump=0:detect_leaks=0"})

    def read(self, process, name):
        done = subprocess.run([*self.AS_USER, "head", "-c", "1", f"/proc/{process.pid}/{name}"], capture_output=True, check=False,
                              env={"PATH": "/usr/bin:/bin", "LC_ALL": "C"})
        return done.stderr.decode()

    def leaves_a_core(self, process):
        process.send_signal(signal.SIGABRT)
        _, status = os.waitpid(process.pid, 0)
        process.returncode = -os.WTERMSIG(status)
        self.assertEqual(os.WTERMSIG(status), signal.SIGABRT)
        return os.WCOREDUMP(status) or any("core" in path.name for path in self.folder.iterdir())

    def test_it_is_neither_shown_nor_dumped(self):
        with socket.create_server(("127.0.0.1", 0)) as server:
            server.settimeout(30)
            host = f"127.0.0.1:{server.getsockname()[1]}"
            process = self.start(self.folder / "imgcheck", "check", "--plain-http", host, "--registry", host, "--creds",
                                 f"u:{SECRETS['creds']}", "--image", f"{host}/a:v1")
            connection, _ = server.accept()
            with connection:
                for name in ("mem", "environ"):
                    self.assertIn("Permission denied", self.read(process, name))
                self.assertFalse(self.leaves_a_core(process))

    def test_another_program_is_shown(self):
        """So that the test above would see it."""
        shutil.copy("/bin/sleep", self.folder / "other")
        with subprocess.Popen([*self.AS_USER, self.folder / "other", "100"], stdin=subprocess.DEVNULL) as process:
            while pathlib.Path(f"/proc/{process.pid}/comm").read_text(encoding="utf-8") != "other\n":
                self.assertIsNone(process.poll())
            self.assertEqual(self.read(process, "environ"), "")
            process.kill()
