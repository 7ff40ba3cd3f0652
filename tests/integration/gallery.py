# SPDX-License-Identifier: Apache-2.0
"""Good and broken images in the shared registry, each with the verdict that a node would reach."""

import dataclasses
import functools

import world

BOTH = ("linux/amd64", "linux/arm64")


@dataclasses.dataclass
class Picture:
    """An image and what has to be said of it.

    verdict: at depth blobs. copies: whether a puller gets it for the wanted platform; None where skopeo is no
    judge of that, for the reason in note.
    """
    image: str
    verdict: str
    copies: bool
    note: str = ""


@functools.lru_cache(None)
def pictures():
    client = world.client()
    return [picture for make in (_good, _absent, _incomplete, _corrupt) for picture in make(client)]


def _good(client):
    made = {
        "good/oci": client.push("good/oci", "v1"),
        "good/docker": client.push("good/docker", "v1", media="docker"),
        "good/index-oci": client.push("good/index-oci", "v1", BOTH, layers=2),
        "good/index-docker": client.push("good/index-docker", "v1", BOTH, "docker"),
        "good/index-of-one": client.push("good/index-of-one", "v1", index=True),
        "good/deep/path/of/names": client.push("good/deep/path/of/names", "v1", layers=5),
    }
    for name in made:
        yield Picture(f"{name}:v1", "ok", True)
    yield Picture(f"good/oci@{made['good/oci'].digest}", "ok", True)
    yield Picture(f"good/index-oci@{made['good/index-oci'].digest}", "ok", True)
    yield Picture(f"good/oci:v1@{made['good/oci'].digest}", "ok", None, "skopeo takes no tag with a digest")
    other = client.push("good/others-layer-gone", "v1", BOTH)
    client.delete_blob(other.repository, other.children["linux/arm64"].layers[0])
    yield Picture("good/others-layer-gone:v1", "ok", True)


def _absent(client):
    yield Picture("good/oci:v2", "not-found", False)
    yield Picture("nowhere/at-all:v1", "not-found", False)
    yield Picture("good/oci@sha256:" + "0" * 64, "not-found", False)
    client.push("absent/platform-index", "v1", ("linux/arm64", "linux/s390x"))
    yield Picture("absent/platform-index:v1", "no-platform", False)
    client.push("absent/platform-single", "v1", ("linux/arm64",))
    yield Picture("absent/platform-single:v1", "no-platform", None, "skopeo copies a single manifest for any platform")


def _incomplete(client):
    layer = client.push("incomplete/layer", "v1", layers=3)
    client.delete_blob(layer.repository, layer.children["linux/amd64"].layers[1])
    yield Picture("incomplete/layer:v1", "incomplete", False)
    config = client.push("incomplete/config", "v1", BOTH, "docker")
    client.delete_blob(config.repository, config.children["linux/amd64"].config)
    yield Picture("incomplete/config:v1", "incomplete", False)
    child = client.push("incomplete/child", "v1", BOTH)
    client.delete_manifest(child.repository, child.children["linux/amd64"].digest)
    yield Picture("incomplete/child:v1", "incomplete", False)


def _stored(digest):
    """The file in which the registry keeps a blob."""
    algorithm, value = digest.split(":")
    return world.plain().storage / "docker/registry/v2/blobs" / algorithm / value[:2] / value / "data"


def _corrupt(client):
    layer = client.push("corrupt/layer-cut-short", "v1")
    path = _stored(layer.children["linux/amd64"].layers[0])
    path.write_bytes(path.read_bytes()[:-1])
    yield Picture("corrupt/layer-cut-short:v1", "corrupt", False)
    child = client.push("corrupt/child", "v1", BOTH)
    path = _stored(child.children["linux/amd64"].digest)
    path.write_bytes(path.read_bytes().replace(b'"schemaVersion": 2', b'"schemaVersion":  2'))
    yield Picture("corrupt/child:v1", "corrupt", False)
    config = client.push("corrupt/config", "v1")
    path = _stored(config.children["linux/amd64"].config)
    path.write_bytes(path.read_bytes().replace(b"/hello", b"/other"))
    yield Picture("corrupt/config:v1", "corrupt", False)
