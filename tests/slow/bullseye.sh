#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# bullseye.sh DIR PACKAGE...: a Debian 11 root with these packages, 450 MB, and in its /usr/src/curl the source of the
# next release's curl. Needs root and mmdebstrap.
set -euo pipefail

dir=$1
shift
packages=$(IFS=, && echo "$*")
# The archive that this machine's own apt uses.
# shellcheck disable=SC2016 # a format of apt
mirror=$(apt-get indextargets --format '$(REPO_URI)' | grep -v security | head -n 1)

# Debian's last two patches rename the library for builds with other TLS libraries.
# shellcheck disable=SC2016 # for the hooks' shell
mmdebstrap --quiet --variant=minbase --include="$packages,dpkg-dev" \
	--aptopt='Apt::Install-Recommends "false"' \
	--dpkgopt='path-exclude=/usr/share/doc/*' \
	--dpkgopt='path-exclude=/usr/share/man/*' \
	--dpkgopt='path-exclude=/usr/share/locale/*' \
	--customize-hook='cd "$1/usr/src" && APT_CONFIG=$MMDEBSTRAP_APT_CONFIG apt-get -qq -o APT::Sandbox::User=root source --download-only curl' \
	--customize-hook='chroot "$1" sh -euc "cd /usr/src; dpkg-source --no-check -x curl_*.dsc curl >/dev/null; rm curl_*; cd curl
		for patch in 99_nss 90_gnutls; do patch -s -R -p1 <debian/patches/\$patch.patch; done"' \
	bullseye "$dir" "deb $mirror bullseye main" "deb-src $mirror bookworm main"
