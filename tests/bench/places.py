# SPDX-License-Identifier: Apache-2.0
"""Where client and server stand: on loopback, or at the two ends of a link with a delay; and the servers there."""

import collections
import contextlib
import dataclasses
import os
import time

from support import built, nginx, tool
from support.images import Client
from support.process import Process
from support.registry import Registry, token_auth

NEAR, FAR = "10.77.0.1", "10.77.0.2"

_NGINX = """
daemon off;
{user}
worker_processes 1;
pid nginx.pid;
error_log stderr warn;
events {{ worker_connections 2048; }}
http {{
	log_format tests '$connection $server_protocol $request_method $request_uri $status $ssl_protocol';
	access_log access.log tests;
	client_body_temp_path tmp-body; proxy_temp_path tmp-proxy; fastcgi_temp_path tmp-fastcgi;
	uwsgi_temp_path tmp-uwsgi; scgi_temp_path tmp-scgi;
	proxy_http_version 1.1;
	upstream registry {{ server {registry}; keepalive 256; }}
	upstream tokens {{ server {tokens}; keepalive 256; }}
	server {{
		listen {address}:{port} ssl {http2};
		ssl_certificate {crt};
		ssl_certificate_key {key};
		ssl_protocols TLSv1.3;
		large_client_header_buffers 4 16k;
		proxy_set_header Host $http_host;
		proxy_set_header Connection "";
		location / {{ proxy_pass http://registry; }}
		location /token {{ proxy_pass http://tokens; }}
	}}
}}
"""


class Loopback:
    """Client and server on this machine as it is.  By a name, since nodes trust 127.0.0.1 without looking."""
    name, rtt_ms, address, host = "loopback", 0, "127.0.0.1", "registry.localhost"

    def server(self, argv):
        return argv

    def client(self, argv):
        return argv


class Link:
    """Client and server in namespaces of their own, a fixed delay apart.

    window: packets that TCP sends on a new connection before it waits for the other side; Linux: 10.
    """
    address = host = NEAR

    def __init__(self, folder, name, rtt_ms, window):
        self.name, self.rtt_ms = name, rtt_ms
        folder.mkdir(parents=True)
        self._process = Process([built("bench/link"), str(int(rtt_ms * 1000 / 2)), str(window)], folder / "link.log")
        _, pid, near, far = self._process.wait_for(r"ready \d+ \d+ \d+").group(0).split()
        self._near, self._far = (["nsenter", f"--net=/proc/{pid}/fd/{fd}"] for fd in (near, far))

    def server(self, argv):
        return self._near + argv

    def client(self, argv):
        return self._far + argv

    def stop(self):
        self._process.stop()


@dataclasses.dataclass(frozen=True)
class Way:
    """How the registry is asked, and which it is: our stand-in, or a real docker-registry."""
    name: str
    tls: bool = True
    http2: bool = True
    tokens: str = "signed"  # or "short", or ""
    real: bool = False


PLAIN = Way("plain HTTP/1.1", tls=False, http2=False, tokens="")
HTTP1 = Way("HTTP/1.1, TLS", http2=False)
HTTP2 = Way("HTTP/2")
SHORT = Way("HTTP/2, short tokens", tokens="short")
REAL = Way("HTTP/2, docker-registry", real=True)

Counts = collections.namedtuple("Counts", "requests repeated connections")


def seed(storage, count):
    """Puts the images that the stand-in would make up, or some like them, where a docker-registry will find them."""
    with Registry(storage.parent / "seeding", storage) as registry, Client(registry.host) as client:
        for i in range(count):
            platforms = ("linux/amd64", "linux/arm64") if i % 2 == 0 else ("linux/amd64",)
            client.push(f"bench/addon-{i:05d}", "v1", platforms, layers=3)


class Server:
    """A registry at a place, with nginx in front of it for TLS.

    storage: of a docker-registry. port: another than 443 where there are several.
    """

    def __init__(self, folder, place, way, authority, storage=None, port=443):
        self.folder, self.place, self.way = folder, place, way
        folder.mkdir(parents=True)
        self._stack = contextlib.ExitStack()
        self.authority = authority
        if place.address == "127.0.0.1":
            port = _free_port()
        scheme = "https" if way.tls else "http"
        host = f"{place.host}:{port}"
        signer = authority.issue(f"signer-{folder.name}")
        options = ["-t", scheme] if way.tokens else []
        if way.tokens == "signed":
            options += ["-k", signer.key, "-c", signer.crt]
        backend = place.address if not way.tls else "127.0.0.1"
        self._log = folder / ("access.log" if way.tls else "standin.log")
        process = self._start([built("bench/standin"), *options, backend, folder / "standin.log"], "standin.out")
        tokens = registry = process.wait_for(r"listening on (\S+)").group(1)
        if way.real:
            auth = token_auth(f"{scheme}://{host}/token", "standin", signer.crt)
            registry = self._stack.enter_context(Registry(folder / "registry", storage, auth, within=place.server([]))).host
        if way.tls:
            self._start_front(registry, tokens, port)
        else:
            host = f"{place.host}:{registry.rsplit(':', 1)[1]}"
        self.host, self.numbers = host, f"{place.address}:{host.rsplit(':', 1)[1]}"
        self.base = f"{scheme}://{self.host}"
        self._read = 0

    def _start(self, argv, log, **options):
        return self._stack.enter_context(Process(self.place.server([str(a) for a in argv]), self.folder / log, **options))

    def _start_front(self, registry, tokens, port):
        pair = self.authority.issue(f"front-{self.folder.name}", hosts=(f"IP:{self.place.address}", "DNS:registry.localhost"))
        config = _NGINX.format(user="user root;" if os.geteuid() == 0 else "", registry=registry, tokens=tokens,
                               address=self.place.address, port=port, http2="http2" if self.way.http2 else "",
                               crt=pair.crt, key=pair.key)
        (self.folder / "nginx.conf").write_text(config, encoding="utf-8")
        self._start([tool("nginx"), "-p", self.folder, "-c", "nginx.conf", "-e", "stderr"], "nginx.out")
        limit = time.monotonic() + 20
        while not (self.folder / "nginx.pid").exists() and time.monotonic() < limit:
            time.sleep(0.02)

    def counts(self):
        """What was asked since the last call.  Logs are written a little behind the answers."""
        lines = []
        for _ in range(3):
            time.sleep(0.05)
            with open(self._log, encoding="utf-8") as log:
                log.seek(self._read)
                lines = log.read().splitlines()
        self._read = self._log.stat().st_size
        rows = [line.split(" ") for line in lines]
        if self.way.tls and any(row[-1] != "TLSv1.3" for row in rows):
            raise RuntimeError("the handshakes that are measured are not those of TLS 1.3")
        answered = collections.Counter((row[2], row[3]) for row in rows if row[4] != "401")
        return Counts(len(rows), sum(n - 1 for n in answered.values()), len({row[0] for row in rows}))

    def stop(self):
        self._stack.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


def _free_port():
    with nginx.bind() as listener:
        return listener.getsockname()[1]
