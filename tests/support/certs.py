# SPDX-License-Identifier: Apache-2.0
"""A certificate authority of a test's own, made with the openssl command."""

import dataclasses
import pathlib
import subprocess

_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-sha256", "-days", "2")


@dataclasses.dataclass
class Pair:
    """Paths of a certificate and its key, in PEM."""
    crt: pathlib.Path
    key: pathlib.Path


class Authority:
    """Issues certificates below folder; crt is what clients have to trust."""

    def __init__(self, folder, name="tests"):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self._pair = self._request(name, "-subj", f"/CN={name} authority",
                                   "-addext", "basicConstraints=critical,CA:TRUE",
                                   "-addext", "keyUsage=critical,keyCertSign,cRLSign")
        self.crt = self._pair.crt

    def _request(self, name, *arguments):
        pair = Pair(self.folder / f"{name}.crt", self.folder / f"{name}.key")
        subprocess.run(["openssl", "req", "-x509", *_KEY, "-keyout", pair.key, "-out", pair.crt, *arguments],
                       check=True, capture_output=True)
        return pair

    def issue(self, name, usage="serverAuth", hosts=("IP:127.0.0.1", "DNS:localhost", "DNS:registry.localhost")):
        """A certificate for servers (hosts) or, with usage clientAuth, for clients."""
        return self._request(name, "-CA", self._pair.crt, "-CAkey", self._pair.key, "-subj", f"/CN={name}",
                             "-addext", "basicConstraints=critical,CA:FALSE",
                             "-addext", f"extendedKeyUsage={usage}",
                             "-addext", "subjectAltName=" + ",".join(hosts))
