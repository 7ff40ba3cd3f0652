#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Makes certificates for the fault server in an empty folder, with the openssl command:
#
#   tests/fault/certs.sh FOLDER
#
# ca.crt is the authority that clients trust; good, expired, future and other (another host's) are pairs of
# .crt and .key that it signed for servers on 127.0.0.1, and self signed itself.

set -eu
cd "$1"

# issue NAME START END HOSTS: dates are YYMMDDHHMMSSZ
issue() {
	openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$1.key" -out "$1.csr" \
		-subj "/CN=$1" 2>/dev/null
	printf 'subjectAltName=%s\nbasicConstraints=critical,CA:FALSE\n' "$4" > "$1.ext"
	openssl ca -batch -config ca.conf -startdate "$2" -enddate "$3" -extfile "$1.ext" -in "$1.csr" -out "$1.crt" \
		-notext 2>/dev/null
	rm "$1.csr" "$1.ext"
}

cat > ca.conf <<'END'
[ca]
default_ca = tests
[tests]
database = index.txt
new_certs_dir = .
rand_serial = yes
certificate = ca.crt
private_key = ca.key
default_md = sha256
policy = any
unique_subject = no
[any]
commonName = supplied
END
: > index.txt
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 3650 -keyout ca.key -out ca.crt \
	-subj "/CN=tests authority" 2>/dev/null
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 3650 -keyout self.key -out self.crt \
	-subj "/CN=self" -addext "subjectAltName=IP:127.0.0.1" 2>/dev/null
issue good 200101000000Z 491231000000Z IP:127.0.0.1,DNS:localhost,DNS:registry.localhost
issue expired 200101000000Z 210101000000Z IP:127.0.0.1,DNS:registry.localhost
issue future 480101000000Z 491231000000Z IP:127.0.0.1,DNS:registry.localhost
issue other 200101000000Z 491231000000Z DNS:registry.example
rm -f index.* ./*.pem
