# SPDX-License-Identifier: Apache-2.0
"""For a charm that refreshes a snap with imgcheck's hooks: a veto blocks the unit, and the reconcile goes on.

A refresh that is stopped by the hook makes `snap refresh` fail. Where that is a CalledProcessError which nobody
catches, the unit is in hook error and nothing after it is reconciled, though the old revision runs on as before.
"""

import subprocess

HOOKS = ("pre-refresh", "post-refresh")
REPORT = "/var/snap/{}/common/imgcheck/last-report.json"


def configure(name, settings):
    """Sets the configuration of the snap, on every unit: on one without, the hook knows no registry and skips.

    settings: {key: text}; None takes a key away.
    """
    if settings:
        items = [f"{key}!" if value is None else f"{key}={value}" for key, value in sorted(settings.items())]
        subprocess.run(["snap", "set", name, *items], check=True)


def refresh(name, channel):
    """Refreshes the snap. None, or after a veto what to show as the message of a blocked status.

    Raises subprocess.CalledProcessError for every other failure.
    """
    command = ["snap", "refresh", name, "--channel", channel]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode == 0:
        return None
    if not any(f'(run hook "{hook}":' in done.stderr and f'Run {hook} hook of "{name}"' in done.stderr for hook in HOOKS):
        raise subprocess.CalledProcessError(done.returncode, command, done.stdout, done.stderr)
    verdict = [line for line in done.stderr.splitlines() if line.startswith("cannot ") and f"{name} revision" in line]
    return f"{name}: {verdict[-1] if verdict else 'refresh vetoed'} (see {REPORT.format(name)})"
