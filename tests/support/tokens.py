# SPDX-License-Identifier: Apache-2.0
"""A token server as docker-registry wants one: signed JWTs for the scopes asked for, by GET and by POST."""

import base64
import collections
import itertools
import json
import time
import urllib.parse

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, utils

from . import serving

ISSUER = "imgcheck tests"

TokenRequest = collections.namedtuple("TokenRequest", "method user service scopes")


def _encode(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _chain(path):
    """The certificate as the x5c header holds it: base64 of its DER."""
    lines = path.read_text(encoding="ascii").split("-----")[2]
    return ["".join(lines.split())]


class TokenServer(serving.Service):
    """Gives tokens to anybody, or only for logins {user: password}; remembers what it was asked.

    pair: the certs.Pair that signs; the registry trusts its certificate (registry.token_auth).
    """

    def __init__(self, pair, logins=None, expires_in=300):
        self.logins = logins
        self.expires_in = expires_in
        self.requests = []
        self._serial = itertools.count(1)
        self._key = serialization.load_pem_private_key(pair.key.read_bytes(), None)
        self._header = _encode(json.dumps({"typ": "JWT", "alg": "ES256", "x5c": _chain(pair.crt)}).encode())
        super().__init__(_Handler)

    def token(self, service, user, scopes):
        now = int(time.time())
        access = []
        for scope in scopes:
            kind, rest = scope.split(":", 1)
            name, actions = rest.rsplit(":", 1)
            access.append({"type": kind, "name": name, "actions": actions.split(",")})
        claims = {"iss": ISSUER, "aud": service, "sub": user, "iat": now, "nbf": now - 10,
                  "exp": now + self.expires_in, "jti": str(next(self._serial)), "access": access}
        signed = f"{self._header}.{_encode(json.dumps(claims).encode())}"
        r, s = utils.decode_dss_signature(self._key.sign(signed.encode(), ec.ECDSA(hashes.SHA256())))
        return f"{signed}.{_encode(r.to_bytes(32, 'big') + s.to_bytes(32, 'big'))}"


class _Handler(serving.Handler):
    def do_GET(self):
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)
        self._answer(query, *self._basic())

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        form = urllib.parse.parse_qs(body)
        user, password = form.get("username", [""])[0], form.get("password", [""])[0]
        if form.get("grant_type") == ["refresh_token"]:
            user, password = "", form.get("refresh_token", [""])[0]
        self._answer(form, user, password)

    def _basic(self):
        scheme, _, value = self.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "basic":
            return "", ""
        user, _, password = base64.b64decode(value).decode().partition(":")
        return user, password

    def _answer(self, fields, user, password):
        tokens = self.server.service
        service = fields.get("service", [""])[0]
        scopes = [scope for field in fields.get("scope", []) for scope in field.split()]
        tokens.requests.append(TokenRequest(self.command, user, service, scopes))
        if tokens.logins is not None and tokens.logins.get(user) != password:
            self._send(401, {"errors": [{"code": "UNAUTHORIZED", "message": "incorrect username or password"}]})
            return
        token = tokens.token(service, user, scopes)
        self._send(200, {"token": token, "access_token": token, "expires_in": tokens.expires_in})

    def _send(self, status, document):
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
