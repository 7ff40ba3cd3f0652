# SPDX-License-Identifier: Apache-2.0
"""How a server answers: the same good image each time, and rules in front that make the server odd or broken."""

import gzip
import hashlib

import world
from judges import Row, served
from shelf import TAG
from support.images import digest_of

from rows_images import index, single

NO_HEAD = "containers/image sends no HEAD"
ONLY_429 = "containers/image repeats after 429 alone"
NO_5XX = "Debian's containerd 1.6 repeats nothing after a 5xx, later ones do"
BOTH, HEAD, GET = "GET,HEAD", "HEAD", "GET"
OTHER = digest_of(b"something else")

# (name, verdict, methods, path, steps, exceptions)
ANSWERS = (
    ("no such tag", "not-found", BOTH, "${tag}", "status 404 Not Found", {}),
    ("403 for the tag", "denied", BOTH, "${tag}", "status 403 Forbidden", {}),
    ("400 for the tag", "server-error", BOTH, "${tag}", "status 400 Bad Request", {}),
    ("412 for the tag", "denied", BOTH, "${tag}", "status 412 Precondition Failed", {}),
    ("429 without end", "rate-limited", BOTH, "${tag}", "status 429 Too Many Requests", {}),
    ("429, then ok", "ok", BOTH, "${tag}", "times 1; status 429 Too Many Requests; header Retry-After: 1", {}),
    ("429 for a layer, then ok", "ok", BOTH, "${image}/blobs/${layer}", "times 1; status 429 Too Many Requests", {}),
    ("408, then ok", "ok", BOTH, "${tag}", "times 1; status 408 Request Timeout", {"skopeo": ONLY_429}),
    ("503, then ok", "ok", BOTH, "${tag}", "times 1; status 503 Service Unavailable", {"ctr": NO_5XX, "skopeo": ONLY_429}),
    ("503 without end", "server-error", BOTH, "${tag}", "status 503 Service Unavailable", {}),
    ("502 once", "server-error", BOTH, "${tag}", "times 1; status 502 Bad Gateway", {}),
    ("500 for a layer", "server-error", BOTH, "${image}/blobs/${layer}", "status 500 Internal Server Error", {}),
    ("a web page for the tag", "not-a-registry", BOTH, "${tag}",
     "status 200 OK; header Content-Type: text/html; body <html><title>Log in</title></html>", {}),
    ("a web page that says 404", "not-found not-a-registry", BOTH, "${tag}",
     "status 404 Not Found; header Content-Type: text/html; body <html><title>nginx</title></html>", {}),
    ("a reset", "unreachable", BOTH, "${tag}", "reset", {}),
    ("no answer", "unreachable", BOTH, "${tag}", "close", {}),

    ("HEAD 405", "ok", HEAD, "${tag}", "status 405 Method Not Allowed", {}),
    ("HEAD 404, GET 200", "not-found", HEAD, "${tag}", "status 404 Not Found", {"skopeo": NO_HEAD}),
    ("HEAD 403, GET 200", "denied", HEAD, "${tag}", "status 403 Forbidden", {"skopeo": NO_HEAD}),
    ("HEAD without digest", "ok", HEAD, "${tag}", "status 200 OK; header Content-Type: ${type}; body ${body}", {}),
    ("HEAD without length", "ok", HEAD, "${tag}",
     "status 200 OK; header Content-Type: ${type}; header Docker-Content-Digest: ${top}; end", {}),
    ("HEAD with length 0", "corrupt", HEAD, "${tag}",
     "status 200 OK; header Content-Type: ${type}; header Docker-Content-Digest: ${top}; header Content-Length: 0; end",
     {"skopeo": NO_HEAD}),
    ("HEAD without media type", "corrupt", HEAD, "${tag}",
     "status 200 OK; header Docker-Content-Digest: ${top}; body ${body}", {"skopeo": NO_HEAD}),
    ("HEAD with a digest that is none", "corrupt", HEAD, "${tag}",
     "status 200 OK; header Content-Type: ${type}; header Docker-Content-Digest: latest; body ${body}", {"skopeo": NO_HEAD}),
    ("HEAD with another digest", "incomplete", HEAD, "${tag}",
     f"status 200 OK; header Content-Type: ${{type}}; header Docker-Content-Digest: {OTHER}; body ${{body}}",
     {"skopeo": NO_HEAD}),
    ("HEAD with another length", "corrupt", HEAD, "${tag}",
     "status 200 OK; header Content-Type: ${type}; header Docker-Content-Digest: ${top}; header Content-Length: 99; end",
     {"skopeo": NO_HEAD}),

    ("the manifest by digest 404", "incomplete", GET, "${image}/manifests/${top}", "status 404 Not Found", {"skopeo": NO_HEAD}),
    ("the manifest by digest 412", "denied", GET, "${image}/manifests/${top}", "status 412 Precondition Failed",
     {"skopeo": "containers/image asks by tag only"}),
    ("the manifest by digest is another", "corrupt", GET, "${image}/manifests/${top}",
     "status 200 OK; header Content-Type: ${type}; body {}", {"skopeo": "containers/image asks by tag only"}),
    ("the manifest breaks off", "unreachable corrupt", GET, "${image}/manifests/*",
     "status 200 OK; header Content-Type: ${type}; header Content-Length: 1000; end; send {; close", {}),

    ("config 404", "incomplete", BOTH, "${image}/blobs/${config}", "status 404 Not Found", {}),
    ("config is another", "corrupt", BOTH, "${image}/blobs/${config}", "status 200 OK; body {}", {}),
    ("config 200 without a byte", "incomplete corrupt", BOTH, "${image}/blobs/${config}", "status 200 OK", {}),
    ("layer 404", "incomplete", BOTH, "${image}/blobs/${layer}", "status 404 Not Found", {}),
    ("layer 403", "denied", BOTH, "${image}/blobs/${layer}", "status 403 Forbidden", {}),
    ("layer HEAD 404, GET 200", "ok", HEAD, "${image}/blobs/${layer}", "status 404 Not Found", {}),
    ("layer HEAD 405, GET 200", "ok", HEAD, "${image}/blobs/${layer}", "status 405 Method Not Allowed", {}),
    ("layer HEAD 500, GET 200", "ok", HEAD, "${image}/blobs/${layer}", "status 500 Internal Server Error", {}),
    ("layer HEAD with length 0, GET whole", "ok", HEAD, "${image}/blobs/${layer}", "status 200 OK", {}),
    ("layer HEAD with another length, GET whole", "ok", HEAD, "${image}/blobs/${layer}",
     "status 200 OK; header Content-Length: 9; end", {}),
    ("layer 200 without a byte", "incomplete", BOTH, "${image}/blobs/${layer}", "status 200 OK", {}),

    ("a redirect of the tag", "ok", BOTH, "${tag}", "times 1; status 307 Temporary Redirect; header Location: ${tag}", {}),
    ("a redirect to the same host by another name", "ok", BOTH, "${tag}",
     "times 1; status 302 Found; header Location: http://localhost:${port}${tag}", {}),
    ("a redirect in a circle", "server-error", BOTH, "${tag}", "status 307 Temporary Redirect; header Location: ${tag}", {}),
    ("a redirect to nowhere", "server-error", BOTH, "${tag}", "status 307 Temporary Redirect", {}),
    ("a redirect to a file", "server-error", BOTH, "${tag}",
     "status 307 Temporary Redirect; header Location: file:///etc/hostname", {}),
    ("a redirect of a layer, by a relative path", "ok", BOTH, "${image}/blobs/${layer}",
     "times 1; status 307 Temporary Redirect; header Location: ../blobs/${layer}", {}),
    ("a store that refuses", "denied", BOTH, "${image}/blobs/${layer}",
     "status 307 Temporary Redirect; header Location: http://localhost:${port}/store", {}),
)

STORE = """
on * /store
	status 403 Forbidden
	body <Error><Code>SignatureDoesNotMatch</Code><Message>no</Message></Error>
"""


def rule(methods, path, steps):
    return f"on {methods} {path}\n" + "\n".join("\t" + step.strip() for step in steps.split(";")) + "\n"


def rows():
    shelf = single()
    for name, verdict, methods, path, steps, apart in ANSWERS:
        yield Row(name, verdict, served(shelf, STORE + rule(methods, path, steps)), **apart)
    yield from _more()


# Reading a first byte shows what sizes do not.
BYTES = (
    ("a layer that ends before its first byte", "incomplete unreachable",
     "status 200 OK; header Content-Length: 150; end; close"),
    ("a layer that HEAD tells of and GET does not have", "incomplete", "status 404 Not Found"),
)


def _encoded():
    """Bodies that come in gzip, though nobody asked for it."""
    shelf, names = single(), single().names()
    for name, path, data in (("manifest", "${image}/manifests/${top}", shelf.manifests[TAG][1]),
                             ("config", "${image}/blobs/${config}", shelf.blobs[names["config"]]),
                             ("layer", "${image}/blobs/${layer}", shelf.blobs[names["layer"]])):
        file = world.FOLDER / f"{name}.gz"
        file.write_bytes(gzip.compress(data, mtime=0))
        body = f"status 200 OK; header Content-Type: ${{type}}; header Content-Encoding: gzip; body-file {file}"
        head = rule(HEAD, path, body) if name == "layer" else ""
        yield Row(f"a {name} in gzip", "ok", served(shelf, head + rule(GET, path, body)))
        broken = rule(GET, path, body.replace(f"body-file {file}", "body {}"))
        if name != "layer":
            yield Row(f"a {name} said to be in gzip", "unreachable", served(shelf, broken),
                      **({"skopeo": "containers/image asks by tag only"} if name == "manifest" else {}))
    start = world.FOLDER / "layer.start"
    start.write_bytes((world.FOLDER / "layer.gz").read_bytes()[:1])
    ranged = (f"on GET ${{image}}/blobs/${{layer}}\n\tif range: *\n\tstatus 206 Partial Content\n\theader Content-Encoding: gzip\n"
              f"\theader Content-Range: bytes 0-0/99\n\tbody-file {start}\n")
    yield Row("a layer in gzip, in ranges too", "ok", served(shelf, ranged + rule(GET, "${image}/blobs/${layer}", body)), depth="bytes")
    layer = world.FOLDER / "layer.stored"
    layer.write_bytes(shelf.blobs[names["layer"]])
    stored = f"status 200 OK; header Content-Encoding: gzip; body-file {layer}"
    yield Row("a layer that is gzip, and said to be encoded so", "corrupt",
              served(shelf, rule(BOTH, "${image}/blobs/${layer}", stored)))


def _more():
    yield from _encoded()
    good = "status 200 OK; header Content-Type: ${type}; header Docker-Content-Digest: ${top}; body ${body}"
    for hops, verdict in ((9, "ok"), (10, "server-error")):
        steps = [rule(BOTH, f"/hop{i}", f"status 302 Found; header Location: /hop{i + 1}") for i in range(1, hops)]
        rules = rule(BOTH, "${tag}", "status 302 Found; header Location: /hop1") + "".join(steps) + rule(BOTH, f"/hop{hops}", good)
        yield Row(f"{hops} redirects", verdict, served(single(), rules))
    child = index()
    yield Row("child 404", "incomplete", served(child, rule(BOTH, "${image}/manifests/${child}", "status 404 Not Found")))
    yield Row("child is another", "corrupt", served(child, rule(BOTH, "${image}/manifests/${child}", "status 200 OK; body {}")))
    data = child.manifests[TAG][1]
    digest = "sha512:" + hashlib.sha512(data).hexdigest()
    by_sha512 = rule(BOTH, f"${{image}}/manifests/{digest}", "status 200 OK; header Content-Type: ${type}; body ${body}")
    yield Row("a digest of sha512", "ok", served(child, by_sha512, reference=f"@{digest}"),
              ctr="Debian's containerd 1.6 knows sha256 alone, later ones all digests",
              skopeo="containers/image computes sha256 alone")
    yield Row("asked by digest, answered with another", "corrupt", served(child, by_sha512.replace("${body}", "{}"),
                                                                          reference=f"@{digest}"))
    shelf = single()
    at_digest = "@" + shelf.names()["top"]
    for name, field in (("none", "X: y"), ("another", f"Docker-Content-Digest: {OTHER}"),
                        ("a bad one", "Docker-Content-Digest: x")):
        steps = f"status 200 OK; header Content-Type: ${{type}}; header {field}; body ${{body}}"
        yield Row(f"asked by digest, HEAD tells {name}", "ok",
                  served(shelf, rule(HEAD, "${image}/manifests/${top}", steps), reference=at_digest))
    for status in ("400 Bad Request", "416 Range Not Satisfiable", "501 Not Implemented"):
        rules = f"on GET ${{image}}/blobs/${{layer}}\n\tif range: *\n\tstatus {status}\n"
        yield Row(f"a range of a layer {status[:3]}", "ok", served(shelf, rules), depth="bytes")
    yield Row("asked by digest, 404", "not-found", served(child, reference=f"@{OTHER}"))
    shelf = single()
    no_digest = rule(HEAD, "${tag}", "status 200 OK; header Content-Type: ${type}; body ${body}")
    yield Row("HEAD without digest, GET 404", "not-found",
              served(shelf, no_digest + rule(GET, "${tag}", "status 404 Not Found")))
    for name, verdict, steps in BYTES:
        size = len(shelf.blobs[shelf.names()["layer"]])
        rules = rule(GET, "${image}/blobs/${layer}", steps.replace("150", str(size)))
        yield Row(name, verdict, served(shelf, rules), depth="bytes")
