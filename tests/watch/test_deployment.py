# SPDX-License-Identifier: Apache-2.0
"""The units for systemd, the objects for Kubernetes and the alert rules, judged by those who read them."""

import json
import os
import pathlib
import shlex
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("BUILD", ROOT / "build/release")).resolve()
TOOLS = ROOT / "build/tools/bin"
HOOKS = ROOT / "hooks"


def tool(name):
    subprocess.run([ROOT / "tests/support/tools.sh", name], check=True)
    return TOOLS / name


def run(*command, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=60, check=False, **options)


def flags_are_known(test, words):
    """Each --flag of a command line is one that its help lists."""
    usage = run(BUILD / "imgcheck", words[1], "--help").stdout
    flags = [word for word in words if word.startswith("--")]
    test.assertTrue(flags)
    for flag in flags:
        test.assertRegex(usage, rf"(?m)^\s+{flag}\b")


class Systemd(unittest.TestCase):
    UNITS = ("imgcheck-watch.service", "imgcheck-watch.timer")

    def verify(self, change=lambda text: text):
        """What systemd-analyze says of the units, installed in a root of their own."""
        with tempfile.TemporaryDirectory() as root:
            units = pathlib.Path(root, "etc/systemd/system")
            units.mkdir(parents=True)
            for name in self.UNITS:
                (units / name).write_text(change((HOOKS / "systemd" / name).read_text()))
            # what they depend on, as far as a root without systemd has to have it
            for name in ("basic", "sysinit", "shutdown", "timers", "network-online"):
                (units / f"{name}.target").write_text("[Unit]\nDefaultDependencies=no\n")
            for name in ("tmp.mount", "-.mount", "system.slice", "-.slice", "systemd-journald.socket"):
                (units / name).write_text("[Unit]\nDefaultDependencies=no\n" + {
                    "tmp.mount": "[Mount]\nWhat=tmpfs\nWhere=/tmp\n", "-.mount": "[Mount]\nWhat=/dev/a\nWhere=/\n",
                    "systemd-journald.socket": "[Socket]\nListenStream=/run/j\nService=imgcheck-watch.service\n"}.get(name, ""))
            program = pathlib.Path(root, "usr/bin/imgcheck")
            program.parent.mkdir(parents=True)
            program.write_text("#!/bin/sh\n")
            program.chmod(0o755)
            return run("systemd-analyze", "verify", f"--root={root}", "--man=no", *(units / name for name in self.UNITS))

    def setUp(self):
        if not shutil.which("systemd-analyze"):
            self.skipTest("there is no systemd-analyze")

    def test_units_are_clean(self):
        done = self.verify()
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_a_misspelled_line_would_be_seen(self):
        done = self.verify(lambda text: text.replace("StateDirectory=", "StateFolder="))
        self.assertIn("StateFolder", done.stderr)

    def test_the_service_is_confined(self):
        done = run("systemd-analyze", "security", "--offline=yes", "--threshold=15", "--no-pager",
                   HOOKS / "systemd/imgcheck-watch.service")
        self.assertEqual(done.returncode, 0, done.stdout[-400:])

    def test_its_command_is_one(self):
        lines = (HOOKS / "systemd/imgcheck-watch.service").read_text().splitlines()
        commands = [line.partition("=")[2] for line in lines if line.startswith("ExecStart=")]
        self.assertEqual(len(commands), 1)
        flags_are_known(self, shlex.split(commands[0]))


class Kubernetes(unittest.TestCase):
    """kubectl decodes into its own types and back, and loses what they do not have."""

    def setUp(self):
        self.kubectl = tool("kubectl")

    def decode(self, text):
        done = run(self.kubectl, "set", "env", "--local", "-f", "-", "IMGCHECK_TEST=1", "-o", "json", input=text)
        if 'no kind "CronJob" is registered for version "batch/v1"' in done.stderr:  # Debian 12's; the fields are the same
            return self.decode(text.replace("batch/v1\n", "batch/v1beta1\n"))
        return json.loads(done.stdout) if done.stdout.strip() else self.fail(done.stderr)

    def documents(self, name):
        for text in (HOOKS / "kubernetes" / name).read_text().split("\n---\n"):
            yield text

    def workload(self, name):
        return [text for text in self.documents(name) if "\nkind: CronJob" in text or "\nkind: Job" in text][0]

    def assert_confined(self, pod):
        self.assertIs(pod["automountServiceAccountToken"], False)
        self.assertNotIn("serviceAccountName", pod)
        self.assertIs(pod["securityContext"]["runAsNonRoot"], True)
        self.assertEqual(pod["securityContext"]["seccompProfile"], {"type": "RuntimeDefault"})
        for container in pod["containers"]:
            context = container["securityContext"]
            self.assertEqual(context, {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True,
                                       "capabilities": {"drop": ["ALL"]}})
            self.assertEqual({mount["name"] for mount in container["volumeMounts"]}, {v["name"] for v in pod["volumes"]})
            flags_are_known(self, container["command"])

    def test_the_cron_job(self):
        spec = self.decode(self.workload("cronjob.yaml"))["spec"]
        self.assertEqual((spec["schedule"], spec["concurrencyPolicy"]), ("*/15 * * * *", "Forbid"))
        job = spec["jobTemplate"]["spec"]
        self.assertEqual((job["backoffLimit"], job["activeDeadlineSeconds"]), (0, 7200))
        self.assert_confined(job["template"]["spec"])

    def test_the_indexed_job(self):
        spec = self.decode(self.workload("indexed-job.yaml"))["spec"]
        if "completionMode" not in spec:
            self.skipTest("this kubectl is older than Indexed Jobs")
        self.assertEqual((spec["completionMode"], spec["completions"], spec["parallelism"]), ("Indexed", 4, 4))
        command = spec["template"]["spec"]["containers"][0]["command"]
        self.assertEqual(command[command.index("--shard") + 1], f"$(JOB_COMPLETION_INDEX)/{spec['completions']}")
        self.assertIn("$(JOB_COMPLETION_INDEX)", command[command.index("--state") + 1])
        self.assert_confined(spec["template"]["spec"])

    def test_a_misspelled_field_would_be_seen(self):
        text = self.workload("cronjob.yaml")
        wrong = self.decode(text.replace("concurrencyPolicy:", "concurencyPolicy:"))
        self.assertNotIn("concurencyPolicy", wrong["spec"])

    def test_the_other_objects(self):
        others = {}
        for text in self.documents("cronjob.yaml"):
            done = run(self.kubectl, "label", "--local", "-f", "-", "imgcheck-test=1", "-o", "json", input=text)
            decoded = json.loads(done.stdout)
            others[decoded["kind"]] = decoded
        self.assertEqual(sorted(others), ["ConfigMap", "CronJob", "PersistentVolumeClaim"])
        self.assertEqual(others["PersistentVolumeClaim"]["spec"]["accessModes"], ["ReadWriteOnce"])
        self.check_config(others["ConfigMap"]["data"]["watch.yaml"])

    def check_config(self, text):
        """The configuration in the ConfigMap is one: a round by it asks for its image, of a host that is not there."""
        with tempfile.TemporaryDirectory() as folder:
            config, metrics = pathlib.Path(folder, "watch.yaml"), pathlib.Path(folder, "watch.prom")
            config.write_text(text.replace("registry.internal:5000", "127.0.0.1:1"))
            run(BUILD / "imgcheck", "watch", "--once", "--config", config, "--metrics", metrics)
            self.assertIn('imgcheck_watch_image_gone{reference="127.0.0.1:1/team/app:stable"} 0', metrics.read_text())


class Alerts(unittest.TestCase):
    def test_the_rules_say_what_they_should(self):
        promtool = tool("promtool")
        with tempfile.TemporaryDirectory() as folder:
            rules = pathlib.Path(folder, "imgcheck.rules.yaml")
            shutil.copy(HOOKS / "alerts/imgcheck.rules.yaml", rules)
            shutil.copy(ROOT / "tests/data/watch/alerts.test.yaml", folder)
            done = run(promtool, "check", "rules", rules)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertIn("3 rules found", done.stdout)
            done = run(promtool, "test", "rules", "alerts.test.yaml", cwd=folder)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            rules.write_text(rules.read_text().replace("> 3600", "> 9999"))
            self.assertNotEqual(run(promtool, "test", "rules", "alerts.test.yaml", cwd=folder).returncode, 0)


if __name__ == "__main__":
    unittest.main()
