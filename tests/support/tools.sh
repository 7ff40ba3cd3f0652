#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# tools.sh NAME...: makes programs that only tests need callable as build/tools/bin/NAME, without turning
# them into services of this machine. What is installed already is used as it is. Anything else is
# downloaded as a Debian package and unpacked under build/tools, so nothing is started or configured; only
# where that fails is the package installed, with the start of services suppressed.
#
# Says nothing when all is there. TOOLS_DIR names another folder than build/tools.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
dir=${TOOLS_DIR:-$(dirname "$(dirname "$here")")/build/tools}
PATH=$PATH:/usr/sbin:/sbin
export DEBIAN_FRONTEND=noninteractive

say() { echo "tools: $*" >&2; }

package_of() {
	case $1 in
	docker-registry | nginx | skopeo | containerd) echo "$1" ;;
	kubectl) echo kubernetes-client ;;
	ctr) echo containerd ;;
	tinyproxy) echo tinyproxy-bin ;;
	promtool) echo prometheus ;;
	negate) echo monitoring-plugins-basic ;;
	chromium-headless-shell | cmark-gfm) echo "$1" ;;
	*) say "cannot provide $1: no package is known for it"; return 1 ;;
	esac
}

as_root() {
	if [ "$(id -u)" = 0 ]; then
		"$@"
	elif command -v sudo >/dev/null; then
		sudo "$@"
	else
		say "cannot run $1: neither root nor sudo"
		return 1
	fi
}

# The package and whatever it needs that is not installed.
needed_packages() {
	apt-get -qq -s install --no-install-recommends "$1" 2>/dev/null | awk '/^Inst/ { print $2 }'
}

unpack() {
	local package=$1 names deb
	names=$(needed_packages "$package")
	[ -n "$names" ] || return 1
	mkdir -p "$dir/debs" "$dir/root"
	# shellcheck disable=SC2086 # a list of package names
	(cd "$dir/debs" && apt-get -qq -o APT::Sandbox::User="$(id -un)" download $names >/dev/null 2>&1) || return 1
	for deb in "$dir"/debs/*.deb; do
		dpkg -x "$deb" "$dir/root" || return 1
	done
	rm -rf "$dir/debs"
}

# dpkg's scripts ask /usr/sbin/policy-rc.d before they start a service; 101 forbids it.
install_quietly() {
	local policy=/usr/sbin/policy-rc.d made='' status=0
	if [ ! -e "$policy" ]; then
		# shellcheck disable=SC2016 # for the inner shell
		as_root sh -c 'printf "#!/bin/sh\nexit 101\n" > "$1" && chmod 755 "$1"' sh "$policy" || return 1
		made=yes
	fi
	as_root apt-get -qq install -y --no-install-recommends "$1" >/dev/null || status=1
	[ -z "$made" ] || as_root rm -f "$policy"
	return "$status"
}

# Finds NAME below a root ("" is the machine's own).
find_in() {
	local folder
	for folder in usr/lib/chromium usr/bin usr/sbin bin sbin usr/lib/nagios/plugins; do
		[ -x "$1/$folder/$2" ] && { echo "$folder/$2"; return; }
	done
	return 1
}

# An unpacked program is called by a wrapper that finds its unpacked libraries, wherever build/ is moved to.
write_wrapper() {
	local libraries
	libraries=$(cd "$dir/root" && echo usr/lib/*-linux-gnu*)
	cat >"$dir/bin/$1" <<-WRAPPER
		#!/bin/sh
		root=\$(dirname "\$(dirname "\$(readlink -f "\$0")")")/root
		LD_LIBRARY_PATH="\$root/$libraries:\$root/$libraries/pulseaudio" exec "\$root/$2" "\$@"
	WRAPPER
	chmod 755 "$dir/bin/$1"
}

link_installed() {
	local path
	path=$(find_in "" "$1") || return 1
	ln -sf "/$path" "$dir/bin/$1"
}

provide() {
	local name=$1 package path
	[ -x "$dir/bin/$name" ] && return
	mkdir -p "$dir/bin"
	link_installed "$name" && return
	package=$(package_of "$name")
	say "fetching $package"
	unpack "$package" || { as_root apt-get -qq update >/dev/null && unpack "$package"; } || {
		say "cannot unpack $package, installing it"
		install_quietly "$package" && link_installed "$name" && return
		say "cannot provide $name: install the package $package"
		return 1
	}
	path=$(find_in "$dir/root" "$name") || { say "package $package holds no program $name"; return 1; }
	write_wrapper "$name" "$path"
}

[ $# -gt 0 ] || { echo "usage: tools.sh NAME..." >&2; exit 2; }
mkdir -p "$dir"
exec 9>"$dir/lock"
flock 9
for name in "$@"; do
	provide "$name"
done
