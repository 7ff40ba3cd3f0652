#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# disk.sh SUITE DIR: vmlinuz, initrd and root.img of a Debian with snapd and an enforcing AppArmor, and root/, what is on
# it. agent.sh on it does what it is told on a virtio port. Needs root, mmdebstrap and mke2fs; 1 GB.
set -euo pipefail

suite=$1 dir=$2 here=$(dirname "$(readlink -f "$0")")
root=$dir/root
# The archive that this machine's own apt uses.
# shellcheck disable=SC2016 # a format of apt
mirror=$(apt-get indextargets --format '$(REPO_URI)' | grep -v security | head -n 1)

mkdir -p "$dir"
mmdebstrap --quiet --variant=minbase \
	--include=systemd,systemd-sysv,udev,dbus,apparmor,snapd,squashfs-tools,busybox-static,docker-registry \
	--include=linux-image-cloud-amd64,initramfs-tools \
	--aptopt='Apt::Install-Recommends "false"' \
	--dpkgopt='path-exclude=/usr/share/doc/*' \
	--dpkgopt='path-exclude=/usr/share/man/*' \
	--dpkgopt='path-exclude=/usr/share/locale/*' \
	"$suite" "$root" "$mirror"
mv "$root"/boot/vmlinuz-* "$dir/vmlinuz"
mv "$root"/boot/initrd.img-* "$dir/initrd"
rm -rf "${root:?}"/boot/*

# Nothing in it may wait for a network, or run by the clock.
for unit in systemd-networkd.service systemd-timesyncd.service docker-registry.service getty.target \
	serial-getty@ttyS0.service apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_all.timer \
	fstrim.timer; do
	ln -sf /dev/null "$root/etc/systemd/system/$unit"
done
echo vm >"$root/etc/hostname"
: >"$root/etc/machine-id"
printf '/dev/vda / ext4 defaults 0 0\n/dev/vdb /snaps squashfs ro 0 0\n' >"$root/etc/fstab"
mkdir -p "$root/snaps"

# No resolver, so that what snapd asks the store fails at once; and it must not look for a newer self in the snapd snap.
rm -f "$root/etc/resolv.conf"
: >"$root/etc/resolv.conf"
sed -i 's/^hosts:.*/hosts: files/' "$root/etc/nsswitch.conf"
printf '127.0.0.1 localhost\n' >"$root/etc/hosts"
mkdir -p "$root/etc/systemd/system/snapd.service.d"
printf '[Service]\nEnvironment=SNAP_REEXEC=0\n' >"$root/etc/systemd/system/snapd.service.d/vm.conf"
echo 'SNAP_REEXEC=0' >>"$root/etc/environment"

install -m 755 "$here/agent.sh" "$root/usr/local/sbin/agent"
cat >"$root/etc/systemd/system/agent.service" <<-UNIT
	[Unit]
	Wants=snapd.seeded.service
	After=snapd.seeded.service
	[Service]
	Environment=SNAP_REEXEC=0 HOME=/root LANG=C.UTF-8 TERM=dumb PATH=/usr/sbin:/usr/bin:/sbin:/bin:/snap/bin
	ExecStart=/usr/local/sbin/agent /dev/virtio-ports/agent
	RuntimeDirectory=agent
UNIT
mkdir -p "$root/etc/systemd/system/multi-user.target.wants"
ln -s /etc/systemd/system/agent.service "$root/etc/systemd/system/multi-user.target.wants/"

mke2fs -q -t ext4 -d "$root" "$dir/root.img" 3G
