# SPDX-License-Identifier: Apache-2.0
"""The snaps that the machine installs: stand-ins for snapd and core24, and the example addon snap itself.

The stand-ins hold what snapd asks of them and no more. As in the real ones, the base brings glibc, and a snap
brings the other libraries of its programs.
"""

import shutil
import subprocess

from support import snaptree

APPLETS = ("sh", "cat", "env", "ls", "mkdir", "readlink", "true", "false", "sleep")

# From before the hooks; one that needs 500 images more; one whose hooks lack the plug that its apps have.
PLAIN, MANY, UNPLUGGED = "1.28.1", "1.28.4", "1.28.5"
# Which of the example's two versions each is like.
VERSIONS = {snaptree.OLD: snaptree.OLD, snaptree.NEW: snaptree.NEW, PLAIN: snaptree.OLD, MANY: snaptree.NEW, UNPLUGGED: snaptree.OLD}

# The mount points that snap-confine wants of a base.
BASE_FOLDERS = """
	bin sbin lib/modules lib/firmware lib64 usr/bin usr/sbin usr/lib/snapd usr/src etc/alternatives etc/ssl
	usr/share/ca-certificates dev proc sys tmp run home root media mnt snap opt srv boot meta
	var/snap var/lib/snapd var/lib/extrausers var/tmp var/log var/cache var/run
""".split()


def _pack(folder, path):
    """Without compression: what it would take is longer than what it would save."""
    subprocess.run(["mksquashfs", folder, path, "-noappend", "-noI", "-noD", "-noF", "-no-xattrs", "-no-fragments", "-all-root",
                    "-quiet", "-no-progress"], check=True, capture_output=True)


def _describe(folder, name, kind):
    (folder / "meta").mkdir(exist_ok=True)
    (folder / "meta" / "snap.yaml").write_text(
        f"name: {name}\nversion: '0'\ntype: {kind}\nsummary: stand-in\ndescription: stand-in\n", encoding="utf-8")


def _make_snapd(folder, rootfs):
    """snapd wants a snap of itself before any snap with a base, with a profile of snap-confine where AppArmor is on."""
    (folder / "usr/lib/snapd").mkdir(parents=True)
    shutil.copy(rootfs / "usr/lib/snapd/info", folder / "usr/lib/snapd/info")
    (folder / "etc/apparmor.d").mkdir(parents=True)
    for profile in (rootfs / "etc/apparmor.d").glob("usr.lib.snapd.snap-confine*"):
        shutil.copy(profile, folder / "etc/apparmor.d")
    _describe(folder, "snapd", "snapd")


def _make_base(folder, rootfs, glibc):
    for name in BASE_FOLDERS:
        (folder / name).mkdir(parents=True, exist_ok=True)
    for name in ("etc/nsswitch.conf", "etc/resolv.conf"):
        (folder / name).touch()
    shutil.copy(rootfs / "bin/busybox", folder / "bin/busybox")
    for applet in APPLETS:
        (folder / "bin" / applet).hardlink_to(folder / "bin/busybox")
    # snap-confine binds snapd's tools to usr/lib/snapd.
    (folder / "usr/bin/snapctl").symlink_to("../lib/snapd/snapctl")
    for path in glibc:
        place = folder / path.relative_to("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, place)
    _describe(folder, "core24", "base")


def _make_example(folder, version, imgcheck, libraries):
    """A version of the example: as it stands, or like one of its two versions with a difference."""
    like = VERSIONS[version]
    snaptree.assemble(folder, like, imgcheck)
    for path in libraries:
        shutil.copy(path, folder / "usr/lib" / path.name)
    # A service, to see that a veto does not stop it.
    beat = folder / "bin" / "beat"
    beat.write_text("#!/bin/sh\nexec sleep 86400\n", encoding="utf-8")
    beat.chmod(0o755)
    description = folder / "meta" / "snap.yaml"
    text = description.read_text(encoding="utf-8").replace(like, version)
    text = text.replace("apps:\n", "apps:\n  beat: {command: bin/beat, daemon: simple}\n")
    before_hooks = text[:text.index("\nhooks:")]
    if version == PLAIN:
        for place in ("meta/imgcheck.yaml", *(f"meta/hooks/{hook}" for hook in snaptree.HOOKS if hook != "configure")):
            (folder / place).unlink()
        text = before_hooks + "\nhooks: {configure: {}}\n"
    if version == UNPLUGGED:
        text = before_hooks + "\nhooks: {install: {}, configure: {}, pre-refresh: {}, post-refresh: {}}\n"
    if version == MANY:
        (folder / "templates" / "many.yaml").write_text("".join(
            f"---\nkind: Pod\nmetadata: {{name: pod-{i}}}\nspec: {{containers: [{{image: "
            f"'{{{{ registry }}}}/some/rather/long/name/of/an/image-{i:03}:v1'}}]}}\n" for i in range(500)), encoding="utf-8")
    description.write_text(text, encoding="utf-8")


def build(out, rootfs, imgcheck, versions):
    """Packs into the folder out: snapd.snap, core24.snap, and NAME_VERSION.snap of these versions of the example."""
    shutil.rmtree(out, ignore_errors=True)
    stage = out / "stage"
    for name in ("snapd", "core24"):
        (stage / name).mkdir(parents=True)
    glibc, libraries = snaptree.libraries(imgcheck)
    _make_snapd(stage / "snapd", rootfs)
    _make_base(stage / "core24", rootfs, glibc)
    for version in versions:
        _make_example(stage / f"{snaptree.NAME}_{version}", version, imgcheck, libraries)
    for folder in stage.iterdir():
        _pack(folder, out / f"{folder.name}.snap")
    shutil.rmtree(stage)
