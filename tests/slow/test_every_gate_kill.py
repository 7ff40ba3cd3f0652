# SPDX-License-Identifier: Apache-2.0
"""Every moment of tests/watch/test_gate_kills.py, of which `make test` tries twenty."""

import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "watch"))
os.environ["KILLS"] = "all"

from test_gate_kills import Kills  # noqa: E402, F401
