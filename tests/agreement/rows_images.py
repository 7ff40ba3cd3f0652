# SPDX-License-Identifier: Apache-2.0
"""What an image is made of: forms that are pulled and forms that are not, each served by a well-behaved server."""

import json
import struct

import world
from judges import Row, served
from shelf import AMD64, NAME, TAG, Shelf
from support.fault import Fault
from support.images import MEDIA, digest_of, layer_pair

BOTH = (AMD64, "linux/arm64")
NO_REPLACEMENT = "containers/image takes no other architecture's image instead"
NESTED = "containers/image takes no index within an index"
UNCHECKED = "a single manifest is pulled for whatever platform it is"
OUR_LIMIT = "it is beyond what we read, and we say so"
UNREAD = "no layer is read in full here"
NO_CHECKS = "containers/image does not look at that"
BY_PLATFORM = "ctr fetches all that its --platform names exactly, a node the best that it can run"


def single(**options):
    return Shelf().put_image(**options)


def index(platforms=BOTH, **options):
    return Shelf().put_image(platforms, index=True, **options)


def rows():
    for make in (_forms, _platforms, _layers, _foreign_layers, _odd_manifests, _odd_indexes, _odd_configs):
        yield from make()


def _row(name, verdict, shelf, rules="", **options):
    return Row(name, verdict, served(shelf, rules), **options)


def _forms():
    yield _row("a manifest, OCI", "ok", single())
    yield _row("a manifest, Docker", "ok", single(media="docker"))
    yield _row("an index, OCI", "ok", index())
    yield _row("a list, Docker", "ok", index(media="docker"))
    yield _row("an index within an index", "ok", index().wrap(platform=AMD64), skopeo=NESTED)
    yield _row("an index within an index, no platform said", "ok", index().wrap(), skopeo=NESTED)
    yield _row("a Docker list within an OCI index", "ok", index(media="docker").wrap(platform=AMD64), skopeo=NESTED)
    yield _row("twelve layers", "ok", single(layers=12))
    yield _row("six indexes in one another", "server-error", nested(5), ctr=OUR_LIMIT)


def nested(depth):
    shelf = index()
    for _ in range(depth):
        shelf.wrap(platform=AMD64)
    return shelf


def _entry(index_document, platform):
    """A further entry like the first one, for another platform (a dict, or None for no platform)."""
    entry = dict(index_document["manifests"][0])
    entry.pop("platform", None)
    if platform:
        entry["platform"] = platform
    return entry


UNKNOWN = {"os": "unknown", "architecture": "unknown"}


def _platforms():
    def all_unknown(document):
        for entry in document["manifests"]:
            entry["platform"] = UNKNOWN

    def attestation_first(document):
        document["manifests"].insert(0, _entry(document, UNKNOWN) | {"digest": digest_of(b"nowhere")})

    def unsaid_first(document):
        document["manifests"].insert(0, _entry(document, None) | {"digest": digest_of(b"nowhere")})

    def twin_broken(place):
        def edit(document):
            document["manifests"].insert(place, dict(document["manifests"][0], digest=digest_of(b"nowhere")))
        return edit

    yield _row("only for arm64", "no-platform", index(("linux/arm64", "linux/s390x")))
    yield _row("only for windows", "no-platform", index(("windows/amd64",)))
    yield _row("only for 386, on amd64", "ok", index(("linux/386",)), ctr=BY_PLATFORM, skopeo=NO_REPLACEMENT)
    yield _row("only for amd64/v3, on amd64", "no-platform", index(("linux/amd64/v3",)))
    yield _row("amd64/v1 said", "ok", index(("linux/arm64", "linux/amd64/v1")),
               skopeo="containers/image compares variants as text")
    yield _row("x86_64 said", "ok", index(("linux/arm64", "linux/x86_64")), skopeo="containers/image compares names as text")
    yield _row("unknown/unknown only", "no-platform", index().change(all_unknown))
    yield _row("an entry that wants a feature of the system", "no-platform",
               index().change(lambda d: d["manifests"][0]["platform"].update({"os.features": ["x"]})),
               ctr="Debian's containerd 1.6 does not look at that, later ones do", skopeo=NO_CHECKS)
    yield _row("an attestation stands first", "ok", index().change(attestation_first))
    yield _row("an empty index", "no-platform", index().change(lambda d: d.update(manifests=[])))
    yield _row("an entry without platform, its config fits", "ok", single().wrap())
    yield _row("an entry without platform, its config is for arm64", "no-platform",
               Shelf().put_image(("linux/arm64",), index=False).wrap(), skopeo=NO_CHECKS)
    yield _row("an entry without platform before the one that fits", "ok", index().change(unsaid_first), ctr=BY_PLATFORM)
    yield _row("a manifest for arm64 alone", "no-platform", Shelf().put_image(("linux/arm64",), index=False),
               ctr=UNCHECKED, skopeo=UNCHECKED)
    yield _row("two entries that fit, the second one broken", "ok", index().change(twin_broken(1)), ctr=BY_PLATFORM)
    yield _row("two entries that fit, the first one broken", "incomplete", index().change(twin_broken(0)))
    yield _row("another platform's entry has size 0", "ok", index().change(lambda d: d["manifests"][1].update(size=0)))
    yield _row("another platform's entry has no digest", "ok",
               index().change(lambda d: d["manifests"][1].pop("digest") and None))


def zstd(data):
    """A frame of one block that is not compressed."""
    block = struct.pack("<I", 1 | len(data) << 3)[:3]
    return b"\x28\xb5\x2f\xfd\xa0" + struct.pack("<I", len(data)) + block + data


def _with_layer(media_type, packed, media="oci"):
    """An image whose only layer is of that type and has these bytes."""
    shelf = single(media=media)
    digest = shelf.put_blob(NAME, packed)
    return shelf.change(lambda m: m["layers"][0].update(mediaType=media_type, digest=digest, size=len(packed)))


def _plain_layer():
    return layer_pair(f"{NAME}:{TAG} {AMD64} 0\n")[0]


def _layers():
    oci, docker = "application/vnd.oci.image.layer.", "application/vnd.docker.image.rootfs."
    yield _row("a layer without compression", "ok", _with_layer(oci + "v1.tar", _plain_layer()))
    yield _row("a Docker layer without compression", "ok",
               _with_layer(docker + "diff.tar", _plain_layer(), "docker"))
    yield _row("a layer in zstd", "ok", _with_layer(oci + "v1.tar+zstd", zstd(_plain_layer())))
    yield _row("a layer of a type unheard of", "corrupt", _with_layer("application/vnd.example.layer", _plain_layer()),
               skopeo=NO_CHECKS)
    yield _row("a layer listed twice", "ok", single().change(_repeat_layer).change_config(_repeat_diff_id))
    other = single()
    other.blobs[other.names()["layer"]] = bytes(len(other.blobs[other.names()["layer"]]))
    yield _row("a layer of other bytes", "ok", other, ctr=UNREAD, skopeo=UNREAD)
    yield _row("a layer of size 0", "corrupt", single().change(lambda m: m["layers"][0].update(size=0)), skopeo=NO_CHECKS)
    yield _row("a layer with another size than said", "corrupt", single().change(lambda m: m["layers"][0].update(size=9)),
               skopeo=NO_CHECKS)
    yield _row("a layer with a digest that is none", "corrupt",
               single().change(lambda m: m["layers"][0].update(digest="latest")))
    yield _row("no layers at all", "ok", single(layers=0))
    yield _row("a layer that the config does not know", "corrupt", single().change(_repeat_layer), skopeo=NO_CHECKS)
    yield _row("no layer, but the config knows one", "corrupt", single().change(lambda m: m.update(layers=[])),
               skopeo=NO_CHECKS)


def _repeat_layer(manifest):
    manifest["layers"] *= 2


def _repeat_diff_id(config):
    config["rootfs"]["diff_ids"] *= 2


@world.once
def store():
    """Where foreign layers come from: the layer of every image here, and places where it is not."""
    folder = world.FOLDER / "store"
    folder.mkdir()
    (folder / "layer").write_bytes(layer_pair(f"{NAME}:{TAG} {AMD64} 0\n")[1])
    script = ("on GET /layer\n\tunless authorization\n\tstatus 200 OK\n\tbody-file layer\n"
              "on GET /broken\n\tstatus 500 Internal Server Error\n")
    return world.keep(Fault(folder, script, seconds=600))


def _foreign_layers():
    kind = "application/vnd.docker.image.rootfs.foreign.diff.tar.gzip"
    gone = "on * ${image}/blobs/${layer}\n\tstatus 404 Not Found\n"
    place = store().base

    def foreign(*urls):
        return single(media="docker").change(lambda m: m["layers"][0].update(mediaType=kind, urls=list(urls)))

    yield _row("a foreign layer at its url", "ok", foreign(f"{place}/layer"), gone)
    yield _row("a foreign layer at its second url", "ok", foreign(f"{place}/gone", f"{place}/layer"), gone)
    yield _row("a foreign layer at the registry alone", "ok", foreign(f"{place}/gone"),
               skopeo="containers/image takes the page of a 404 for the layer")
    yield _row("a foreign layer nowhere", "incomplete", foreign(f"{place}/gone"), gone)
    yield _row("a foreign layer whose url breaks, at the registry too", "server-error", foreign(f"{place}/broken"))
    yield _row("a foreign layer whose urls are of no use", "ok", foreign("ftp://files.example/layer"))


def _odd_manifests():
    yield _row("a manifest that lists manifests too", "corrupt", single().change(lambda m: m.update(manifests=[m["config"]])))
    yield _row("a manifest with fsLayers", "corrupt", single().change(lambda m: m.update(fsLayers=[{"blobSum": "x"}])))
    yield _row("a manifest that says it is an index", "corrupt",
               single().change(lambda m: m.update(mediaType=MEDIA["oci"]["index"])), skopeo=NO_CHECKS)
    yield _row("an index served as a manifest", "corrupt", index().serve_as(MEDIA["oci"]["manifest"]))
    yield _row("a manifest served as an index", "corrupt", single().serve_as(MEDIA["oci"]["index"]))
    yield _row("a manifest that is no JSON", "corrupt", single().change(lambda _: b"manifest"))
    yield _row("a manifest that is a list", "corrupt", single().change(lambda m: json.dumps([m]).encode()))
    yield _row("a manifest without config", "corrupt", single().change(lambda m: m.pop("config") and None),
               skopeo=NO_CHECKS)
    yield _row("an artifact", "corrupt",
               single().change(lambda m: m["config"].update(mediaType="application/vnd.cncf.helm.config.v1+json")),
               ctr="Debian's containerd 1.6 unpacks whatever the config's type says, later ones do not", skopeo=NO_CHECKS)
    yield _row("a config of type octet-stream", "ok",
               single(media="docker").change(lambda m: m["config"].update(mediaType="application/octet-stream")))
    yield _row("schema 1, signed", "corrupt",
               single().serve_as("application/vnd.docker.distribution.manifest.v1+prettyjws"))
    yield _row("a media type with a parameter", "ok", single().serve_as(MEDIA["oci"]["manifest"] + "; charset=utf-8"))
    yield _row("a media type for all JSON", "corrupt", single(media="docker").serve_as("application/json"))
    yield _row("a media type for text", "corrupt", single().serve_as("text/plain"))
    yield _row("110,000 annotations", "server-error",
               single().change(lambda m: m.update(annotations={str(i): "" for i in range(110000)})),
               ctr=OUR_LIMIT, skopeo=OUR_LIMIT)
    yield _row("a manifest that is not UTF-8", "server-error",
               single().change(lambda m: json.dumps(m | {"annotations": {"a": "?"}}).encode().replace(b"?", b"\xff")),
               ctr=OUR_LIMIT, skopeo=OUR_LIMIT)
    yield _row("more than containerd takes", "corrupt", single().change(lambda m: m.update(annotations={"a": "x" * 4393216})))


def _odd_indexes():
    yield _row("an index with layers", "corrupt", index().change(lambda d: d.update(layers=[d["manifests"][0]])))
    yield _row("an index whose entry for us has size 0", "corrupt", index().change(lambda d: d["manifests"][0].update(size=0)),
               skopeo=NO_CHECKS)
    yield _row("an index whose entry for us has another size", "corrupt",
               index().change(lambda d: d["manifests"][0].update(size=5)), skopeo=NO_CHECKS)
    yield _row("an index whose entry for us is no manifest", "corrupt",
               index().change(lambda d: d["manifests"][0].update(mediaType="application/json")), skopeo=NO_CHECKS)
    yield _row("an index whose entry for us is schema 1", "corrupt",
               index(media="docker").change(lambda d: d["manifests"][0].update(
                   mediaType="application/vnd.docker.distribution.manifest.v1+json")), skopeo=NO_CHECKS)


def _odd_configs():
    yield _row("a config that is no JSON", "corrupt", single().change_config(lambda _: b"config"), skopeo=NO_CHECKS)
    yield _row("a config with another size than said", "corrupt", single().change(lambda m: m["config"].update(size=7)))
    yield _row("a config of 5 MiB", "ok", single().change_config(lambda c: c.update(author="x" * (5 << 20))),
               skopeo="containers/image reads 4 MiB of a config")
    yield _row("a config without a platform", "ok", single().change_config(lambda c: c.pop("os") and None))
    yield _row("a config of size 0", "corrupt", single().change(lambda m: m["config"].update(size=0)))
