#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs what building and testing need, and says nothing where all is there.
#
# deps.sh [deb|lint]...: also what these targets of make need
#
# Servers that only tests start (docker-registry, nginx) are not installed: tools.sh unpacks them below build/.
set -eu

packages="gcc g++ libc6-dev make pkg-config libcurl4-openssl-dev libjansson-dev libyaml-dev libssl-dev
libcriterion-dev clang libclang-rt-dev gcovr valgrind pmccabe mandoc shellcheck codespell openssl curl ca-certificates
python3 python3-jinja2 python3-yaml python3-cryptography python3-jsonschema skopeo jq squashfs-tools mmdebstrap iproute2
abigail-tools"
for set; do
	case $set in
	deb) packages="$packages build-essential debhelper dpkg-dev lintian xz-utils" ;;
	lint) packages="$packages clang-tidy cppcheck pyflakes3" ;;
	*) echo "usage: deps.sh [deb|lint]..." >&2 && exit 2 ;;
	esac
done

missing=
for package in $packages; do
	status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
	[ "$status" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" = 0 ]; then
	as_root=
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
	as_root=sudo
else
	echo "cannot install packages: neither root nor sudo without a password; as root, run" >&2
	echo "apt-get install --no-install-recommends$missing" >&2
	exit 1
fi

echo "installing:$missing"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# No package may start a service here: what comes with one is only used by hand.
install() {
	# shellcheck disable=SC2086
	$as_root env DEBIAN_FRONTEND=noninteractive apt-get update &&
		$as_root env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get install -y --no-install-recommends $missing
}
if ! install >"$log" 2>&1 </dev/null; then
	cat "$log" >&2
	echo "cannot install packages:$missing" >&2
	exit 1
fi
