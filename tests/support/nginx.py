# SPDX-License-Identifier: Apache-2.0
"""nginx in front of a registry: TLS, HTTP/2, client certificates, and a log that tells connections apart."""

import collections
import itertools
import os
import pathlib
import socket
import ssl
import urllib.error
import urllib.request

from . import tool
from .process import Process

Request = collections.namedtuple("Request", "connection tls protocol method path status")

_MARK = "imgcheck-tests-mark"

_CONFIG = """
daemon off;
{user}
worker_processes 1;
pid nginx.pid;
error_log stderr warn;
events {{ worker_connections 1024; }}
http {{
	log_format tests '$connection $ssl_protocol $server_protocol $request_method $request_uri $status';
	access_log access.log tests;
	client_body_temp_path tmp-body; proxy_temp_path tmp-proxy; fastcgi_temp_path tmp-fastcgi;
	uwsgi_temp_path tmp-uwsgi; scgi_temp_path tmp-scgi;
	client_max_body_size 0;
	keepalive_requests {keepalive_requests};
	proxy_http_version 1.1;
	proxy_buffering off;
	limit_conn_zone $server_port zone=all:1m;
	limit_conn_log_level info;
	upstream registry {{ server {registry}; keepalive 32; }}
	server {{
		listen 127.0.0.1:{port} ssl {http2};
		ssl_certificate {crt};
		ssl_certificate_key {key};
		ssl_protocols {tls};
		{client_ca}
		{at_once}
		proxy_set_header Host $http_host;
		proxy_set_header X-Forwarded-Proto https;
		proxy_set_header Connection "";
		location / {{ proxy_pass http://registry; }}
		location = /{mark} {{ return 204; }}
		{token_location}
	}}
}}
"""


class Front:
    """folder: for everything it writes; backend: host:port of a registry; pair: the server's certs.Pair.

    tokens: host:port of a token server, served as /token by this front too. client_ca: clients must show a
    certificate of that authority. tls: the versions it speaks; this nginx on its own leaves out 1.3. at_once: how many
    requests it admits at a time, and the status that others get (444: none, the connection is closed). The socket is
    bound here and handed to nginx, so connections wait until it is up.
    """

    def __init__(self, folder, backend, pair, tokens=None, http2=True, client_ca=None, keepalive_requests=1000,
                 listener=None, tls="TLSv1.2 TLSv1.3", at_once=None):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self._marks = itertools.count()
        with listener or bind() as listener:
            self.port = listener.getsockname()[1]
            self.host = f"127.0.0.1:{self.port}"
            config = _CONFIG.format(
                user="user root;" if os.geteuid() == 0 else "", keepalive_requests=keepalive_requests,
                registry=backend, port=self.port, http2="http2" if http2 else "", crt=pair.crt, key=pair.key,
                tls=tls, mark=_MARK,
                at_once="limit_conn all {}; limit_conn_status {};".format(*at_once) if at_once else "",
                client_ca=f"ssl_client_certificate {client_ca}; ssl_verify_client on;" if client_ca else "",
                token_location=f"location = /token {{ proxy_pass http://{tokens}; }}" if tokens else "")
            (self.folder / "nginx.conf").write_text(config, encoding="utf-8")
            self._process = Process([tool("nginx"), "-p", self.folder, "-c", "nginx.conf", "-e", "stderr"],
                                    self.folder / "error.log", pass_fds=[listener.fileno()],
                                    env=dict(os.environ, NGINX=f"{listener.fileno()};"))
        self.requests()

    def requests(self):
        """All requests so far; waits until none is left in a buffer."""
        mark = f"{_MARK}?{next(self._marks)}"
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        try:
            urllib.request.urlopen(f"https://{self.host}/{mark}", context=context, timeout=10).close()
        except urllib.error.HTTPError as error:  # 400: it wants a client certificate
            error.close()
        found = []
        for line in (self.folder / "access.log").read_text(encoding="utf-8").splitlines():
            connection, tls, protocol, method, path, status = line.split(" ")
            if _MARK not in path:
                found.append(Request(int(connection), tls, protocol, method, path, int(status)))
        return found

    def stop(self):
        self._process.stop()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


def bind():
    """A listening socket on a port of the kernel's choice, for a server whose address must be known before."""
    return socket.create_server(("127.0.0.1", 0), backlog=256)
