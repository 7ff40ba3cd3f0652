# SPDX-License-Identifier: Apache-2.0
"""A snap that was downloaded and not installed: --target FILE.snap."""

import json
import os
import shutil
import signal
import subprocess
import unittest

import trees
from command import CommandTest
from support import built
from support.badserver import BadServer, silent
from support.process import wait_until


class SnapFileTest(CommandTest):
    """A snap, and a folder of its own for what is unpacked of it."""

    def setUp(self):
        super().setUp()
        self.write("snap/meta/imgcheck.yaml", trees.DESCRIPTION)
        self.write("snap/templates/pods.yaml", trees.pods("{{ registry }}/a:v1"))
        self.config = self.write("config.json", json.dumps({"kubeconfig": "x", "registry": "r.example"}))
        self.temporary = self.folder / "tmp"
        self.temporary.mkdir()
        self.environment["TMPDIR"] = str(self.temporary)

    def pack(self, *options, name="new.snap"):
        path = self.folder / name
        subprocess.run(["mksquashfs", self.folder / "snap", path, "-noappend", "-quiet", "-no-progress", *options], check=True,
                       capture_output=True)
        return path


@unittest.skipUnless(shutil.which("mksquashfs") and shutil.which("unsquashfs"), "no squashfs-tools")
class SnapFile(SnapFileTest):
    def images(self, path="new.snap", status=0):
        done = self.run_it("images", "--target", path, "--snap-config", self.config, status=status)
        self.assertEqual(list(self.temporary.iterdir()), [])
        return done.stdout + done.stderr

    def test_it_is_as_good_as_the_folder(self):
        self.pack("-comp", "xz")
        self.assertEqual(self.images(), "r.example/a:v1\n")
        self.pack(name="-rf.snap")
        self.assertEqual(self.images("./-rf.snap"), "r.example/a:v1\n")
        self.write("snap/templates/more.yaml", trees.pods("{{ registry }}/b:v1"))
        self.pack(name="newer.snap")
        done = self.run_it("images", "--target", "newer.snap", "--new-since", "new.snap", "--snap-config", self.config)
        self.assertEqual(done.stdout, "r.example/b:v1\n")
        self.assertEqual(list(self.temporary.iterdir()), [])

    def test_what_it_cannot_read_fails(self):
        self.write("snap/templates/bad.yaml", "a: {{ b|never }}\n")
        self.pack()
        done = self.run_it("check", "--target", "new.snap", "--snap-config", self.config, "--plain-http", "r.example",
                           "--deadline", "2", status=5)
        self.assertIn("templates/bad.yaml", done.stdout)
        self.assertNotIn(str(self.temporary), done.stdout)

    def test_guard_leaves_nothing_behind(self):
        self.write("snap/templates/pods.yaml", trees.pods("{{ registry }}/a:v1").replace("image:", "imagePullPolicy: Never, image:"))
        self.pack()
        done = self.run_it("guard", "--target", "new.snap", "--snap-config", self.config, "--", "ls", self.temporary)
        self.assertEqual(done.stdout, "")

    def test_a_file_that_is_cut(self):
        path = self.pack()
        data = path.read_bytes()
        used = int.from_bytes(data[40:48], "little")  # of the superblock; the rest is padding
        for size in (4, 96, used // 2, used - 1):
            path.write_bytes(data[:size])
            self.assertIn("cannot unpack new.snap: unsquashfs failed", self.images(status=5))

    def test_no_squashfs_at_all(self):
        self.write("new.snap", "hello")
        self.assertIn("new.snap", self.images(status=5))

    def test_without_unsquashfs(self):
        self.pack()
        self.environment["PATH"] = str(self.folder / "nowhere")
        self.assertIn("unsquashfs is not installed (package squashfs-tools)", self.images(status=2))

    @unittest.skipUnless(os.geteuid() == 0, "not root")
    def test_a_device_in_it(self):
        self.pack("-p", "templates/null c 666 0 0 1 3")
        self.assertIn("or a device", self.images(status=5))

    def test_more_than_any_snap_has(self):
        self.pack()
        tool = self.write("bin/unsquashfs", "#!/bin/sh\nfor i in 1 2 3; do\n"
                          "echo '-rw-r--r-- 0/0 1600000000 2026-01-01 00:00 squashfs-root/a'\ndone\n")
        tool.chmod(0o755)
        self.environment["PATH"] = f"{tool.parent}:{self.environment['PATH']}"
        self.assertIn("more than 4096 MiB", self.images(status=5))

    def test_snaps_that_reach_outside(self):
        # As a folder and packed: nothing outside of the snap is read, and no message tells what stands there.
        secret = self.write("outside/imgcheck.yaml", trees.pods("secret.example/a:v1") + "secret-key: x\n")
        rows = (("meta/imgcheck.yaml", secret, "leads out of the snap"), ("meta", secret.parent, ""), ("templates", "/etc", "leads out of the snap"),
                ("templates/pods.yaml", secret, "leads out of the snap"), ("templates", "../outside", "cannot"))
        plain = self.folder / "plain"
        (self.folder / "snap").rename(plain)
        for name, target, words in rows:
            with self.subTest(name):
                snap = self.folder / "snap"
                shutil.rmtree(snap, ignore_errors=True)
                shutil.copytree(plain, snap)
                path = snap / name
                shutil.rmtree(path) if path.is_dir() else path.unlink()
                path.symlink_to(target)
                self.pack()
                for output in (self.images("snap", status=5), self.images(status=5)):
                    self.assertIn(words, output)
                    self.assertNotIn("secret", output.replace(str(secret), ""))
                    self.assertNotIn(str(self.temporary), output)

    def test_what_is_no_file(self):
        os.mkfifo(self.folder / "snap" / "templates" / "pipe.yaml")
        self.assertIn("not a regular file", self.images("snap", status=5))
        self.pack()
        self.assertIn("or a device", self.images(status=5))


@unittest.skipUnless(shutil.which("mksquashfs") and shutil.which("unsquashfs"), "no squashfs-tools")
class Interrupted(SnapFileTest):
    """Whatever ends a command, what it has unpacked goes with it."""

    def setUp(self):
        super().setUp()
        self.pack()

    def start(self, *arguments):
        return subprocess.Popen([built("imgcheck"), *arguments, "--snap-config", self.config], cwd=self.folder, env=self.environment,
                                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)

    def assert_removed(self, process, end):
        """There is something to remove; after the end of the process there is not."""
        self.assertNotEqual(list(self.temporary.iterdir()), [])
        end(process)
        process.wait(20)
        wait_until(lambda: not list(self.temporary.iterdir()))

    def test_while_it_is_unpacked(self):
        real, ready = shutil.which("unsquashfs"), self.folder / "ready"
        tool = self.write("bin/unsquashfs", f"#!/bin/sh\n{real} \"$@\" || exit\n[ \"$1\" = -lln ] || echo >{ready}\n"
                          "while [ \"$1\" != -lln ]; do sleep 0.01; done\n")
        tool.chmod(0o755)
        self.environment["PATH"] = f"{tool.parent}:{self.environment['PATH']}"
        for command in (("check", "--target", "new.snap"), ("images", "--target", "new.snap"), ("plan", "--target", "new.snap"),
                        ("diff", "new.snap", "new.snap"), ("audit", "config.json", "new.snap"), ("guard", "--target", "new.snap")):
            with self.subTest(command):
                ready.unlink(missing_ok=True)
                with self.start(*command, *(("--", "true") if command[0] == "guard" else ())) as process:
                    wait_until(ready.exists)
                    self.assert_removed(process, subprocess.Popen.terminate)

    def test_while_the_registry_is_asked(self):
        ends = {number.name: lambda process, number=number: process.send_signal(number)
                for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL)}
        ends["its whole group"] = lambda process: os.killpg(process.pid, signal.SIGKILL)
        with BadServer(silent) as server:
            self.write("config.json", json.dumps({"kubeconfig": "x", "registry": server.host}))
            for name, end in ends.items():
                with self.subTest(name):
                    server.requests.clear()
                    with self.start("check", "--target", "new.snap", "--plain-http", server.host) as process:
                        wait_until(lambda: server.requests)
                        self.assert_removed(process, end)
