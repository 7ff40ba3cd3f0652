#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# rootfs.sh SUITE DIR: a minimal Debian root with systemd and snapd, 230 MB. Needs root and mmdebstrap.
set -euo pipefail

suite=$1 dir=$2
# The archive that this machine's own apt uses.
# shellcheck disable=SC2016 # a format of apt
mirror=$(apt-get indextargets --format '$(REPO_URI)' | grep -v security | head -n 1)

mmdebstrap --quiet --variant=minbase \
	--include=systemd,systemd-sysv,dbus,snapd,squashfs-tools,squashfuse,fuse3,busybox-static \
	--aptopt='Apt::Install-Recommends "false"' \
	--dpkgopt='path-exclude=/usr/share/doc/*' \
	--dpkgopt='path-exclude=/usr/share/man/*' \
	--dpkgopt='path-exclude=/usr/share/locale/*' \
	"$suite" "$dir" "$mirror"

# Nothing in it may reach for hardware, the network or the store.
for unit in systemd-udevd.service systemd-udevd-control.socket systemd-udevd-kernel.socket systemd-udev-trigger.service \
	systemd-modules-load.service systemd-sysctl.service systemd-random-seed.service systemd-remount-fs.service \
	systemd-timesyncd.service systemd-logind.service systemd-networkd.service systemd-pcrphase.service \
	systemd-binfmt.service getty.target apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer \
	e2scrub_all.timer fstrim.timer; do
	ln -sf /dev/null "$dir/etc/systemd/system/$unit"
done
echo e2e >"$dir/etc/hostname"
: >"$dir/etc/fstab"
: >"$dir/etc/machine-id"

# This snapd must not look for a newer self inside the snapd snap.
mkdir -p "$dir/etc/systemd/system/snapd.service.d"
printf '[Service]\nEnvironment=SNAP_REEXEC=0\n' >"$dir/etc/systemd/system/snapd.service.d/e2e.conf"
echo 'SNAP_REEXEC=0' >>"$dir/etc/environment"

# No resolver: what snapd asks the store has to fail at once, not after 40 seconds.
rm -f "$dir/etc/resolv.conf"
: >"$dir/etc/resolv.conf"
sed -i 's/^hosts:.*/hosts: files/' "$dir/etc/nsswitch.conf"
printf '127.0.0.1 localhost\n' >"$dir/etc/hosts"

# There is no udevd to reload, and some versions of snapd fail an install over that.
ln -sf /bin/true "$dir/usr/local/sbin/udevadm"
mkdir -p "$dir/snaps"
