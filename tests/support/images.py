# SPDX-License-Identifier: Apache-2.0
"""Small valid images under any name, put into a registry through its API, and then broken at will.

An image is the same bytes whenever it is made: its content follows from its name, platform and media
types alone.
"""

import dataclasses
import gzip
import hashlib
import http.client
import io
import json
import tarfile
import urllib.parse

MEDIA = {
    "oci": {
        "manifest": "application/vnd.oci.image.manifest.v1+json",
        "index": "application/vnd.oci.image.index.v1+json",
        "config": "application/vnd.oci.image.config.v1+json",
        "layer": "application/vnd.oci.image.layer.v1.tar+gzip",
    },
    "docker": {
        "manifest": "application/vnd.docker.distribution.manifest.v2+json",
        "index": "application/vnd.docker.distribution.manifest.list.v2+json",
        "config": "application/vnd.docker.container.image.v1+json",
        "layer": "application/vnd.docker.image.rootfs.diff.tar.gzip",
    },
}


@dataclasses.dataclass
class Manifest:
    """One platform's image: its digest and those of its blobs."""
    digest: str
    config: str
    layers: list


@dataclasses.dataclass
class Image:
    """What a push has made. digest is what the tag points at; children by platform, in an index or alone."""
    repository: str
    tag: str
    digest: str
    children: dict


def digest_of(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


def split_name(reference):
    """("coredns/coredns", "1.9.4") of "docker.io/coredns/coredns:1.9.4": the path below its registry, and the tag."""
    name, _, tag = reference.rpartition(":")
    first, _, rest = name.partition("/")
    is_host = rest and ("." in first or ":" in first or first == "localhost")
    return (rest if is_host else name), tag


class Client:
    """The few calls of the registry API that make and break images; one connection, no credentials."""

    def __init__(self, host):
        self._connection = http.client.HTTPConnection(host, timeout=20)

    def close(self):
        self._connection.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def request(self, method, path, body=None, headers=None, expect=()):
        self._connection.request(method, path, body, headers or {})
        response = self._connection.getresponse()
        data = response.read()
        if expect and response.status not in expect:
            raise RuntimeError(f"{method} {path}: {response.status} {data[:200]!r}")
        return response, data

    def put_blob(self, repository, data):
        digest = digest_of(data)
        response, _ = self.request("POST", f"/v2/{repository}/blobs/uploads/", expect=(202,))
        place = urllib.parse.urlsplit(response.headers["Location"])
        query = urllib.parse.parse_qsl(place.query) + [("digest", digest)]
        self.request("PUT", f"{place.path}?{urllib.parse.urlencode(query)}", data,
                     {"Content-Type": "application/octet-stream"}, expect=(201,))
        return digest

    def put_manifest(self, repository, reference, media_type, manifest):
        """reference None: known by its digest alone."""
        data = json.dumps(manifest).encode()
        self.request("PUT", f"/v2/{repository}/manifests/{reference or digest_of(data)}", data,
                     {"Content-Type": media_type}, expect=(201,))
        return digest_of(data), len(data)

    def delete_blob(self, repository, digest):
        self.request("DELETE", f"/v2/{repository}/blobs/{digest}", expect=(202,))

    def delete_manifest(self, repository, digest):
        """Takes the manifest away, and with it all tags that point at it."""
        self.request("DELETE", f"/v2/{repository}/manifests/{digest}", expect=(202,))

    def push(self, repository, tag, platforms=("linux/amd64",), media="oci", layers=1, index=None):
        """Makes an image of so many layers; an index of the platforms if they are several, or if index is set."""
        children, entries = {}, []
        index = len(platforms) > 1 if index is None else index
        for platform in platforms:
            child, size = self._push_one(repository, None if index else tag, platform, media, layers, seed=tag)
            children[platform] = child
            entries.append({"mediaType": MEDIA[media]["manifest"], "digest": child.digest, "size": size,
                            "platform": _platform_fields(platform)})
        if not index:
            return Image(repository, tag, child.digest, children)
        digest, _ = self.put_manifest(repository, tag, MEDIA[media]["index"], {
            "schemaVersion": 2, "mediaType": MEDIA[media]["index"], "manifests": entries})
        return Image(repository, tag, digest, children)

    def _push_one(self, repository, tag, platform, media, layers, seed):
        types = MEDIA[media]
        blobs = [layer_pair(f"{repository}:{seed} {platform} {i}\n") for i in range(layers)]
        config = json.dumps({
            **_platform_fields(platform), "config": {"Cmd": ["/hello"]},
            "rootfs": {"type": "layers", "diff_ids": [digest_of(plain) for plain, _ in blobs]},
            "history": [{"created_by": "tests"}] * layers}).encode()
        manifest = {
            "schemaVersion": 2, "mediaType": types["manifest"],
            "config": {"mediaType": types["config"], "digest": self.put_blob(repository, config), "size": len(config)},
            "layers": [{"mediaType": types["layer"], "digest": self.put_blob(repository, packed), "size": len(packed)}
                       for _, packed in blobs]}
        digest, size = self.put_manifest(repository, tag, types["manifest"], manifest)
        return Manifest(digest, manifest["config"]["digest"], [layer["digest"] for layer in manifest["layers"]]), size


def _platform_fields(platform):
    return dict(zip(("os", "architecture", "variant"), platform.split("/")))


def layer_pair(text):
    """A layer with one file: (tar, gzip of it)."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        entry = tarfile.TarInfo("hello")
        entry.size, entry.mode = len(text.encode()), 0o755
        tar.addfile(entry, io.BytesIO(text.encode()))
    return plain.getvalue(), gzip.compress(plain.getvalue(), mtime=0)
