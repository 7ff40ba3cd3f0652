#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# check-snap.sh FILE.snap|FOLDER: whether a built snap really has imgcheck's hook. For the publisher's CI.
#
# snapcraft puts a stub that always succeeds where a hook is declared and its file is missing, and packs a hook without
# its plug without a word: either turns the veto off in silence.
set -eu

snap=${1:?usage: check-snap.sh FILE.snap|FOLDER}
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

# The plugs of a hook in snap.yaml, as snapcraft writes it: one a line, or in brackets.
plugs_of() {
	awk -v hook="$1" '
		/^[^ #]/ { top = $1 }
		top != "hooks:" { next }
		/^  [^ #-]/ { name = $1 }
		name == hook ":" { sub(/#.*/, ""); gsub(/[][{},"]/, " "); gsub(/\047/, " "); print }
	' "$root/meta/snap.yaml"
}

# A hook runs the program itself, or a script that calls it.
check_hook() {
	hook=$root/meta/hooks/$1
	if [ ! -e "$hook" ]; then
		refuse "meta/hooks/$1 is missing"
	elif [ ! -x "$hook" ]; then
		refuse "meta/hooks/$1 is not executable"
	elif grep -q 'imgcheck"* hook '"$1" "$hook" && head -c 2 "$hook" | grep -q '#!'; then
		[ -x "$root/bin/imgcheck" ] || refuse "meta/hooks/$1 calls imgcheck, and bin/imgcheck is missing"
		program=$root/bin/imgcheck
	elif head -c 2 "$hook" | grep -q '#!'; then
		refuse "meta/hooks/$1 is a script that does not call imgcheck (a stub of snapcraft?)"
	else
		program=$hook
	fi
}

check_program() {
	libraries=$root/usr/lib:$root/lib
	for folder in "$root"/usr/lib/*-linux-gnu*; do
		[ -d "$folder" ] && libraries=$libraries:$folder
	done
	said=$(LD_LIBRARY_PATH=$libraries "$program" --version 2>&1) || {
		refuse "$program does not run: $said"
		return
	}
	case $said in
	imgcheck\ [0-9]*) echo "check-snap: $said" ;;
	*) refuse "$program is not imgcheck: it says $said" ;;
	esac
}

program=
[ -f "$root/meta/snap.yaml" ] || refuse "meta/snap.yaml is missing: not a snap"
[ -f "$root/meta/imgcheck.yaml" ] || refuse "meta/imgcheck.yaml is missing: the hook would know nothing to check"
check_hook pre-refresh
[ -z "$program" ] || check_program
if [ -f "$root/meta/snap.yaml" ]; then
	plugs_of pre-refresh | tr ' ' '\n' | grep -qx network ||
		refuse "the hook pre-refresh has no plug network in meta/snap.yaml: it could not reach a registry"
fi
[ -e "$root/meta/hooks/post-refresh" ] || refuse "meta/hooks/post-refresh is missing: nothing would be left to it"
exit $failed
