#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# check-snap.sh FILE.snap|FOLDER [CONFIG.json]: whether a built snap really has imgcheck's hooks. For the publisher's CI.
#
# snapcraft puts a stub that always succeeds where a hook is declared and its file is missing, and packs a hook without
# its plug without a word: either turns the veto off in silence. A hook whose libraries are not there fails instead, and
# stops every refresh for good. With CONFIG.json, as `snap get -d NAME` prints it, what a unit needs that is set up so
# has to be readable as well.
set -eu

snap=${1:?usage: check-snap.sh FILE.snap|FOLDER [CONFIG.json]}
config=${2:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

refuse() {
	echo "check-snap: $*" >&2
	failed=1
}

if [ -d "$snap" ]; then
	root=$snap
else
	command -v unsquashfs >/dev/null || { echo "check-snap: unsquashfs is not installed (squashfs-tools)" >&2; exit 2; }
	root=$work/snap
	unsquashfs -no-progress -no-xattrs -dest "$root" "$snap" >/dev/null || { echo "check-snap: cannot unpack $snap" >&2; exit 2; }
fi
[ -f "$root/meta/snap.yaml" ] || { refuse "meta/snap.yaml is missing: not a snap"; exit 1; }
root=$(cd "$root" && pwd)

# The plugs of a hook in snap.yaml, as snapcraft writes it: one a line, or in brackets.
plugs_of() {
	awk -v hook="$1" '
		/^[^ #]/ { top = $1 }
		top != "hooks:" { next }
		/^  [^ #-]/ { name = $1 }
		name == hook ":" { sub(/#.*/, ""); gsub(/[][{},"]/, " "); gsub(/\047/, " "); print }
	' "$root/meta/snap.yaml"
}

# Where the hooks look for libraries: what snap.yaml sets, with the folder in the place of $SNAP.
library_path() {
	awk '/^[^ #]/ { top = $1 } top == "environment:" && $1 == "LD_LIBRARY_PATH:" { print $2 }' "$root/meta/snap.yaml" |
		tr -d "\"'" | sed -e "s|\${SNAP}|$root|g; s|\$SNAP/|$root/|g" -e 's|\$[{A-Z_}:+]*||g'
}

# A hook is the program itself, or a script with a line that calls it: `|| true` behind the call would undo a veto.
check_hook() {
	hook=$root/meta/hooks/$1
	program=
	if [ ! -e "$hook" ]; then
		refuse "meta/hooks/$1 is missing"
	elif [ ! -x "$hook" ]; then
		refuse "meta/hooks/$1 is not executable"
	elif ! head -c 2 "$hook" | grep -q '#!'; then
		program=$hook
	elif ! grep -q 'imgcheck"* hook '"$1"' *\("$@"\)* *\(|| exit [1-9]\)* *$' "$hook"; then
		refuse "meta/hooks/$1 is a script that does not call imgcheck (a stub of snapcraft?)"
	elif [ -x "$root/bin/imgcheck" ]; then
		program=$root/bin/imgcheck
	else
		refuse "meta/hooks/$1 calls imgcheck, and bin/imgcheck is missing"
	fi
	[ -z "$program" ] || check_program "meta/hooks/$1"
	plugs_of "$1" | tr ' ' '\n' | grep -qx network ||
		refuse "the hook $1 has no plug network in meta/snap.yaml: it could not reach a registry"
}

check_program() {
	said=$(LD_LIBRARY_PATH=$libraries "$program" --version 2>&1) || {
		refuse "$1 does not run with what meta/snap.yaml sets: $said"
		return
	}
	case $said in
	imgcheck\ [0-9]*) echo "check-snap: $1: $said" ;;
	*)
		refuse "$1 is not imgcheck: it says $said"
		return
		;;
	esac
	# Here they may come from this machine; a base has none of them for sure, or one that is too old.
	for library in libimgcheck libcurl libjansson libyaml; do
		LD_LIBRARY_PATH=$libraries ldd "$program" | grep "$library" | grep -qF "=> $root/" ||
			refuse "$1 does not find $library in the snap: stage it, and name its folder in LD_LIBRARY_PATH"
	done
	ln -sf "$program" "$work/imgcheck" # by the name of a hook it would be that hook
}

check_description() {
	if [ ! -f "$root/meta/imgcheck.yaml" ]; then
		refuse "meta/imgcheck.yaml is missing: the hook would know nothing to check"
	elif [ -e "$work/imgcheck" ]; then
		[ -n "$config" ] || { config=$work/config.json && echo '{}' >"$config"; }
		said=$(LD_LIBRARY_PATH=$libraries "$work/imgcheck" images --target "$root" --snap-config "$config" 2>&1 >/dev/null) ||
			refuse "meta/imgcheck.yaml, or what it names, cannot be used: $said"
	fi
}

libraries=$(library_path)
check_hook pre-refresh
check_hook post-refresh
check_description
exit $failed
