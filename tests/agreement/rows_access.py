# SPDX-License-Identifier: Apache-2.0
"""Logins, tokens and certificates."""

import subprocess

import gallery
import world
from judges import Place, Row, at, served
from rows_images import single
from rows_servers import rule
from support import ROOT, badserver
from support.certs import Pair

RIGHT, WRONG = (world.USER, world.PASSWORD), (world.USER, "wrong")
PING_ONLY = "containers/image reads challenges of /v2/ alone"
NEVER_POSTS = "containers/image asks for tokens by GET alone"
ANY_TOKEN = "containers/image takes `token` and `access_token` in either place"
NO_CHECKS = "containers/image goes on without what it cannot use"


def rows():
    yield from _registries()
    yield from _logins()
    yield from _challenges()
    yield from _tokens()
    yield from _stores()
    yield from _certificates()


def _registries():
    """The gallery on docker-registry."""
    host = world.plain().host
    for picture in gallery.pictures():
        apart = {}
        if picture.image.startswith("absent/platform-single"):
            apart = {"ctr": "a single manifest is pulled for whatever platform it is"}
        if picture.note:
            apart["skopeo"] = picture.note
        name = f"docker-registry: {picture.image.replace('sha256:', '')[:38]}"
        yield Row(name, picture.verdict, at(Place(host, picture.image)), **apart)


def _logins():
    world.client().push("private/image", "v1")
    front, ca = world.named(world.token().front.host), world.authority().crt
    basic, guarded = world.htpasswd().host, world.named(world.token_with_logins().front.host)
    for name, verdict, host, authority, login in (
            ("htpasswd, right", "ok", basic, None, RIGHT), ("htpasswd, wrong", "unauthorized", basic, None, WRONG),
            ("htpasswd, none", "unauthorized", basic, None, None), ("tokens for all, none", "ok", front, ca, None),
            ("tokens for all, unused login", "ok", front, ca, RIGHT),
            ("tokens, right", "ok", guarded, ca, RIGHT), ("tokens, wrong", "unauthorized", guarded, ca, WRONG),
            ("tokens, none", "unauthorized", guarded, ca, None)):
        yield Row(name, verdict, at(Place(host, "private/image:v1", authority, login)))
    yield Row("tokens, missing tag", "not-found", at(Place(guarded, "private/image:v2", ca, RIGHT)))
    yield Row("htpasswd, missing repository", "not-found", at(Place(basic, "private/nothing:v1", None, RIGHT)))


def challenged(fields, path="/v2/*"):
    """Rules of a registry that wants to be asked with an Authorization."""
    lines = "".join(f"\theader WWW-Authenticate: {field}\n" for field in fields)
    return f"on * {path}\n\tunless authorization\n\tstatus 401 Unauthorized\n{lines}"


def token(body='{"token": "t"}', methods="GET", condition="", status="200 OK"):
    return f"on {methods} /token*\n{condition}\tstatus {status}\n\theader Content-Type: application/json\n\tbody {body}\n"


BEARER = 'Bearer realm="${base}/token",service="s"'
BASIC = 'Basic realm="r"'


def _challenges():
    shelf = single()
    good = token()
    for name, verdict, fields, login, apart in (
            ("a challenge without scope", "ok", [BEARER], None, {}),
            ("a challenge with its scope", "ok", [BEARER + ',scope="repository:some/image:pull"'], None, {}),
            ("a challenge with an empty scope", "ok", [BEARER + ',scope=""'], None, {}),
            ("a challenge without service", "ok", ['Bearer realm="${base}/token"'], None, {}),
            ("a challenge in other letters", "ok", ['bEARER Realm="${base}/token",SERVICE="s"'], None, {}),
            ("two fields, Basic first, no login", "ok", [BASIC, BEARER], None, {}),
            ("Negotiate, then Basic", "ok", ["Negotiate", BASIC], RIGHT, {}),
            ("Negotiate alone", "unauthorized", ["Negotiate"], RIGHT, {}),
            ("Basic, no login", "unauthorized", [BASIC], None, {"skopeo": "containers/image sends an empty login"}),
            ("Basic, a login", "ok", [BASIC], RIGHT, {}),
            ("401 without a challenge", "unauthorized", [], RIGHT, {}),
            ("a realm that is none", "server-error unauthorized", ['Bearer realm="null://${host}/token"'], None, {}),
            ("no realm", "server-error unauthorized", ['Bearer service="s"'], None, {})):
        yield Row(name, verdict, served(shelf, good + challenged(fields), login=login), **apart)
    yield Row("only manifests challenge", "ok", served(shelf, good + challenged([BEARER], "${image}/*")), skopeo=PING_ONLY)
    yield Row("only blobs challenge", "ok", served(shelf, good + challenged([BEARER], "${image}/blobs/*")), skopeo=PING_ONLY)
    elsewhere = ("on * ${tag}\n\tif host: 127*\n\tstatus 307 No\n\theader Location: http://localhost:${port}${tag}\n"
                 "on * ${tag}\n\tif host: localhost*\n\tunless authorization\n\tstatus 401 No\n"
                 f"\theader WWW-Authenticate: {BEARER}\n")
    yield Row("a redirect to a host with a challenge", "ok", served(shelf, good + elsewhere), skopeo=PING_ONLY)
    invalid = challenged([BEARER]) + ('on * ${image}/*\n\tstatus 401 Unauthorized\n'
                                      f'\theader WWW-Authenticate: {BEARER},error="invalid_token"\n')
    yield Row("a token that is not accepted", "unauthorized", served(shelf, good + invalid))


def _tokens():
    shelf = single()
    posted = "POST 404", "POST 400", "POST 401", "POST 405"
    for name in posted:
        rules = token(status=f"{name[5:]} No", methods="POST") + token() + challenged([BEARER])
        yield Row(f"token by {name}, then GET", "ok", served(shelf, rules, login=RIGHT))
    for name, verdict, rules, login, apart in (
            ("token by POST 403", "denied", token(status="403 Forbidden", methods="POST") + token(), RIGHT,
             {"skopeo": NEVER_POSTS}),
            ("token by POST 500", "server-error", token(status="500 No", methods="POST") + token(), RIGHT,
             {"skopeo": NEVER_POSTS}),
            ("token by POST, access_token", "ok", token('{"access_token": "t"}', "POST") + token(), RIGHT, {}),
            ("token by POST, token alone", "server-error", token(methods="POST") + token(), RIGHT,
             {"skopeo": NEVER_POSTS}),
            ("token by GET, access_token", "ok", token('{"access_token": "t"}'), None, {}),
            ("token by GET, none", "server-error", token("{}"), None, {"skopeo": NO_CHECKS}),
            ("token by GET, no JSON", "server-error", token("token"), None, {}),
            ("token by GET, expires_in a text", "server-error", token('{"token": "t", "expires_in": "60"}'), None, {}),
            ("token by GET 401", "unauthorized", token(status="401 No"), None, {}),
            ("token by GET 403", "denied", token(status="403 No"), None, {}),
            ("token by GET 429", "rate-limited", token(status="429 No"), None, {}),
            ("token by GET 404", "server-error", token(status="404 No"), None, {}),
            ("token by way of a redirect", "ok",
             rule("GET", "/token*", "times 1; status 307 No; header Location: /token2") + token(), None, {})):
        yield Row(name, verdict, served(shelf, rules + challenged([BEARER]), login=login), **apart)


def _stores():
    """Blobs are somewhere else, and that place wants no Authorization."""
    shelf = single()
    store = ("on * /store\n\tif authorization: *\n\tstatus 400 Bad Request\n"
             "on * /store\n\tstatus 200 OK\n\tbody-file blob-1\n")
    blob = list(shelf.blobs)[1]
    for name, verdict, place in (("a store elsewhere gets no login", "ok", "http://localhost:${port}/store"),
                                 ("a store at the same host gets the login", "server-error", "/store")):
        rules = challenged([BASIC]) + store + rule("*", f"${{image}}/blobs/{blob}", f"status 307 No; header Location: {place}")
        yield Row(name, verdict, served(shelf, rules, login=RIGHT))


@world.once
def pairs():
    folder = world.FOLDER / "fault-certificates"
    folder.mkdir()
    subprocess.run([ROOT / "tests" / "fault" / "certs.sh", folder], check=True)
    return folder


def _certificates():
    folder, shelf = pairs(), single()
    for name, verdict, pair in (("a good certificate", "ok", "good"), ("an expired certificate", "tls", "expired"),
                                ("a certificate not valid yet", "tls", "future"),
                                ("another host's certificate", "tls", "other"),
                                ("a self-signed certificate", "tls", "self")):
        yield Row(name, verdict, served(shelf, pair=Pair(folder / f"{pair}.crt", folder / f"{pair}.key"),
                                        ca=folder / "ca.crt", named=True))
    world.client().push("trusted/image", "v1")
    host = world.named(world.plain().host)
    yield Row("no TLS where it is expected", "tls", at(Place(host, "trusted/image:v1", folder / "ca.crt")))
    yield Row("nobody listens", "unreachable", at(Place(badserver.refused(), "some/image:v1")))
    yield Row("no such host", "unreachable", at(Place("registry.invalid:5000", "some/image:v1")))
