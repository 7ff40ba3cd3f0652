# SPDX-License-Identifier: Apache-2.0
"""What the integration tests share: servers, started when first asked for, and the command that is tested."""

import atexit
import base64
import contextlib
import dataclasses
import functools
import json
import pathlib
import subprocess
import tempfile

from support import built, nginx, schema
from support.certs import Authority
from support.containerd import Containerd
from support.images import Client
from support.proxy import Proxy
from support.registry import Registry, htpasswd_auth, token_auth
from support.tokens import TokenServer

PLATFORM = "linux/amd64"
USER, PASSWORD = "reader", "correct horse"
# bcrypt of PASSWORD with cost 4.
PASSWORD_HASH = "$2b$04$abcdefghijklmnopqrstuujydOTSfIH/d5oUHpsygqV5X9xJLQc6e"

_stack = contextlib.ExitStack()
atexit.register(_stack.close)
FOLDER = pathlib.Path(_stack.enter_context(tempfile.TemporaryDirectory(prefix="imgcheck-integration-")))


def named(host):
    """The same server by a name that resolves to loopback. Nodes trust 127.0.0.1 without TLS, but no name."""
    return host.replace("127.0.0.1", "registry.localhost")


def keep(server):
    """Starts it; it ends with the tests."""
    return _stack.enter_context(server)


def once(function):
    return functools.lru_cache(None)(function)


@once
def plain():
    """The registry that everything is pushed through; the others show the same images."""
    return _stack.enter_context(Registry(FOLDER / "plain"))


@once
def client():
    return _stack.enter_context(Client(plain().host))


@once
def htpasswd():
    auth = htpasswd_auth(FOLDER / "htpasswd", {USER: PASSWORD_HASH})
    return _stack.enter_context(Registry(FOLDER / "htpasswd", plain().storage, auth))


@once
def authority():
    return Authority(FOLDER / "authority")


@once
def server_pair():
    return authority().issue("server")


@once
def tls():
    """The plain registry behind TLS and HTTP/2."""
    return _stack.enter_context(nginx.Front(FOLDER / "tls", plain().host, server_pair()))


@once
def mirror():
    """A registry with images of its own."""
    return _stack.enter_context(Registry(FOLDER / "mirror"))


@once
def mirror_client():
    return _stack.enter_context(Client(mirror().host))


@once
def cache():
    """A pull-through cache of the plain registry."""
    return _stack.enter_context(Registry(FOLDER / "cache", upstream=plain().host))


@once
def tls_for_clients():
    """The plain registry behind a front that wants a client certificate."""
    return _stack.enter_context(nginx.Front(FOLDER / "tls-clients", plain().host, server_pair(), client_ca=authority().crt))


@once
def client_pair():
    return authority().issue("client", usage="clientAuth")


PROXY_USER, PROXY_PASSWORD = "through", "proxy-pass-word"


@once
def proxy():
    """It wants a login, and knows registry.test."""
    return _stack.enter_context(Proxy(FOLDER / "proxy", ["registry.test"], (PROXY_USER, PROXY_PASSWORD)))


@once
def tls_by_name():
    """The plain registry behind TLS, with a certificate for registry.test."""
    pair = authority().issue("by-name", hosts=("DNS:registry.test",))
    return _stack.enter_context(nginx.Front(FOLDER / "tls-name", plain().host, pair))


@once
def containerd():
    return _stack.enter_context(Containerd(FOLDER / "ctr"))


@dataclasses.dataclass
class TokenWorld:
    """A registry that asks for tokens, behind TLS; its token server stands behind the same front."""
    front: nginx.Front
    tokens: TokenServer


def start_token_world(name, logins=None, **front_options):
    folder = FOLDER / name
    signer = authority().issue(f"{name}-signer")
    tokens = _stack.enter_context(TokenServer(signer, logins))
    listener = nginx.bind()
    realm = f"https://127.0.0.1:{listener.getsockname()[1]}/token"
    registry = _stack.enter_context(
        Registry(folder / "registry", plain().storage, token_auth(realm, "registry.tests", signer.crt)))
    front = _stack.enter_context(nginx.Front(folder / "front", registry.host, server_pair(), tokens=tokens.host,
                                             listener=listener, **front_options))
    return TokenWorld(front, tokens)


@once
def token():
    return start_token_world("token")


@once
def token_with_logins():
    return start_token_world("token-logins", {USER: PASSWORD})


@dataclasses.dataclass
class Check:
    """One run of imgcheck check: exit status, the JSON report, what it said otherwise."""
    status: int
    report: dict
    stderr: str

    def verdicts(self):
        return {image["written"]: image["verdict"] for image in self.report["images"]}

    def one(self):
        """The only image of the report."""
        (image,) = self.report["images"]
        return image


def imgcheck(*arguments, timeout=60):
    """Runs the command with an empty environment but for what sanitizers need."""
    return subprocess.run([built("imgcheck"), *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=timeout, check=False)


def check(*arguments, timeout=60):
    done = imgcheck("check", "--format", "json", "--platform", PLATFORM, *arguments, timeout=timeout)
    report = schema.validate(json.loads(done.stdout)) if done.stdout else {}
    return Check(done.returncode, report, done.stderr)


def check_images(host, images, *arguments, plain_http=True, **options):
    """Asks host for images, given as REPOSITORY:TAG or REPOSITORY@DIGEST."""
    arguments = list(arguments) + (["--plain-http", host] if plain_http else [])
    for image in images:
        arguments += ["--image", f"{host}/{image}"]
    return check(*arguments, **options)


def write_auth_file(path, host):
    """A docker config.json with the right login for host."""
    login = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
    path.write_text(json.dumps({"auths": {host: {"auth": login}}}), encoding="utf-8")
