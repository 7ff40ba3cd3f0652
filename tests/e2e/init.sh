#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# init.sh ROOTFS SNAPS STATE: runs as PID 1 of new mount, pid, net, uts, ipc and cgroup namespaces. Lays out a
# root over ROOTFS, which stays as it is, with SNAPS as /snaps, and becomes systemd. STATE is an empty folder; all
# that is written to it is in memory and goes with the namespaces.
set -euo pipefail

rootfs=$1 snaps=$2 state=$3 root=$3/root

mount --make-rprivate /
mount -t tmpfs -o mode=755 tmpfs "$state"
mkdir "$state/upper" "$state/work" "$root"
mount -t overlay overlay -o "lowerdir=$rootfs,upperdir=$state/upper,workdir=$state/work" "$root"
mount --bind "$snaps" "$root/snaps"
mount -t proc -o nosuid,nodev,noexec proc "$root/proc"
mount -t sysfs -o nosuid,nodev,noexec sysfs "$root/sys"
mount -t cgroup2 -o nosuid,nodev,noexec cgroup2 "$root/sys/fs/cgroup"
mount -t tmpfs -o mode=755 tmpfs "$root/run"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"

# A /dev of its own. Snaps are mounted by squashfuse, so there are no loop devices.
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
node() { mknod -m 666 "$root/dev/$1" c "$2" "$3"; }
node null 1 3
node zero 1 5
node full 1 7
node random 1 8
node urandom 1 9
node tty 5 0
node fuse 10 229
ln -s /proc/self/fd "$root/dev/fd"
ln -s /proc/self/fd/0 "$root/dev/stdin"
ln -s /proc/self/fd/1 "$root/dev/stdout"
ln -s /proc/self/fd/2 "$root/dev/stderr"
mkdir "$root/dev/pts" "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts "$root/dev/pts"
ln -s pts/ptmx "$root/dev/ptmx"
mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
: >"$root/dev/console"
mount --bind /dev/null "$root/dev/console"

cd "$root"
mkdir -p .old
pivot_root . .old
umount -l /.old
rmdir /.old
mount --make-rshared /

# container=: systemd leaves the hardware alone, and snapd and snap-confine agree that this is a container.
exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin container=lxc \
	/lib/systemd/systemd --unit=multi-user.target --log-target=journal --show-status=no
