# SPDX-License-Identifier: Apache-2.0
"""The world around imgcheck, for tests: real servers on loopback, images to put into them, snap trees.

Everything listens on 127.0.0.1, on a port that the kernel chose, keeps its files in a folder that the
caller gives, and ends with its context manager: at the latest when the test that started it dies.
"""

import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"


def tool(name):
    """The path of a program that only tests need; fetched at the first use (tools.sh)."""
    path = BUILD / "tools" / "bin" / name
    if not path.exists():
        subprocess.run([ROOT / "tests" / "support" / "tools.sh", name], check=True)
    return str(path)


def built(name):
    """The path of something that make builds; BUILD names another folder than build/release."""
    path = pathlib.Path(os.environ.get("BUILD", BUILD / "release")).resolve() / name
    if not path.exists():
        raise FileNotFoundError(f"cannot find {path}: run make first")
    return str(path)
