# SPDX-License-Identifier: Apache-2.0
"""One repository in memory, in which an image is put together and changed at will, and a script that serves it.

The script is the fault server's (tests/fault/script.h); further rules go in front of those that serve the image
as a good registry would.
"""

import json

from support.images import MEDIA, Client, digest_of

NAME = "some/image"
TAG = "v1"
AMD64 = "linux/amd64"


class Shelf(Client):
    """Takes what a registry takes by PUT, without asking whether it makes sense."""

    def __init__(self):  # nothing to connect to
        self.blobs = {}
        self.manifests = {}  # by tag and by digest: (media type, bytes)
        self.image = None

    def close(self):
        pass

    def put_blob(self, repository, data):
        self.blobs[digest_of(data)] = data
        return digest_of(data)

    def put_manifest(self, repository, reference, media_type, manifest):
        data = manifest if isinstance(manifest, bytes) else json.dumps(manifest).encode()
        for name in {reference or digest_of(data), digest_of(data)}:
            self.manifests[name] = (media_type, data)
        return digest_of(data), len(data)

    def put_image(self, *arguments, **options):
        self.image = self.push(NAME, TAG, *arguments, **options)
        return self

    # ---- changes; each gives the shelf back

    def top(self):
        """What the tag names, as JSON."""
        return json.loads(self.manifests[TAG][1])

    def change(self, edit):
        """Edits what the tag names. edit gets the JSON and changes it, or returns what stands in its place."""
        document = self.top()
        document = edit(document) or document
        self.put_manifest(NAME, TAG, self.manifests[TAG][0], document)
        return self

    def change_child(self, edit, place=0):
        """Edits what the index lists in that place, and the index with it."""
        entry = self.top()["manifests"][place]
        child = json.loads(self.manifests[entry["digest"]][1])
        child = edit(child) or child
        digest, size = self.put_manifest(NAME, None, entry["mediaType"], child)
        return self.change(lambda index: index["manifests"][place].update(digest=digest, size=size))

    def change_config(self, edit):
        """Edits the config of a single manifest."""
        manifest = self.top()
        config = json.loads(self.blobs[manifest["config"]["digest"]])
        data = edit(config) or config
        data = data if isinstance(data, bytes) else json.dumps(data).encode()
        digest = self.put_blob(NAME, data)
        return self.change(lambda m: m["config"].update(digest=digest, size=len(data)))

    def serve_as(self, media_type):
        """What the tag names is said to be something else."""
        self.put_manifest(NAME, TAG, media_type, self.manifests[TAG][1])
        return self

    def wrap(self, media="oci", platform=None):
        """Puts an index around what the tag names, which says this platform of it, or none."""
        kind, data = self.manifests[TAG]
        entry = {"mediaType": kind, "digest": digest_of(data), "size": len(data)}
        if platform:
            entry["platform"] = dict(zip(("os", "architecture", "variant"), platform.split("/")))
        self.put_manifest(NAME, TAG, MEDIA[media]["index"], {
            "schemaVersion": 2, "mediaType": MEDIA[media]["index"], "manifests": [entry]})
        return self

    # ---- serving

    def names(self):
        """What rules can speak of: the digests of what the tag names, and of what was pushed for the first platform."""
        names, image = {"top": digest_of(self.manifests[TAG][1])}, self.image.children[min(self.image.children)]
        names.update(child=image.digest, config=image.config)
        if image.layers:
            names["layer"] = image.layers[0]
        return names

    def script(self, folder, rules):
        """The text of a script beside which the contents lie, in folder."""
        folder.mkdir(parents=True, exist_ok=True)
        lines = [f"let {name} {digest}" for name, digest in self.names().items()]
        lines += [f"let image /v2/{NAME}", f"let tag /v2/{NAME}/manifests/{TAG}", f"let type {self.manifests[TAG][0]}"]
        (folder / "top").write_bytes(self.manifests[TAG][1])
        lines += ["let-file body top", rules, "on GET /v2/", "\tstatus 200 OK"]
        for i, (name, (media_type, data)) in enumerate(self.manifests.items()):
            (folder / f"manifest-{i}").write_bytes(data)
            lines += [f"on GET,HEAD /v2/{NAME}/manifests/{name}", "\tstatus 200 OK", f"\theader Content-Type: {media_type}",
                      f"\theader Docker-Content-Digest: {digest_of(data)}", f"\tbody-file manifest-{i}"]
        for i, (digest, data) in enumerate(self.blobs.items()):
            (folder / f"blob-{i}").write_bytes(data)
            lines += [f"on GET,HEAD /v2/{NAME}/blobs/{digest}", "\tstatus 200 OK",
                      "\theader Content-Type: application/octet-stream", f"\tbody-file blob-{i}"]
        return "\n".join(lines) + "\n"
