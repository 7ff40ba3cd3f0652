# SPDX-License-Identifier: Apache-2.0
"""Many machines whose hooks start at one instant against one registry that does not admit all of their requests."""

import contextlib
import dataclasses
import pathlib
import time

import trees
from support.limited import Limited

SECONDS = 120


@dataclasses.dataclass
class Round:
    """What all hooks together did."""
    statuses: set
    outputs: list
    seconds: float
    admitted: int
    refused: int
    busiest: int  # requests in the second with the most, refused ones too


class Fleet:
    def __init__(self, folder, machines, images, each_second):
        self._stack = contextlib.ExitStack()
        self.registry = self._stack.enter_context(Limited(each_second))
        names = [f"{{{{ registry }}}}/addon-{i:02d}:v1" for i in range(images)]
        settings = {"plain-http": self.registry.host, "depth": "tag", "deadline": SECONDS, "on-unproven": "veto"}
        self.trees = [trees.Tree(pathlib.Path(folder) / f"machine-{i:03d}") for i in range(machines)]
        for tree in self.trees:
            tree.add("1")
            tree.set_current("1")
            tree.add("2", *names)
            tree.configure({"kubeconfig": "/root/kubeconfig", "registry": self.registry.host, trees.SETTING: settings})

    def refresh(self):
        """All of them at once."""
        before, began = len(self.registry.requests), time.monotonic()
        hooks = [tree.start("pre-refresh") for tree in self.trees]
        outputs = [hook.communicate(timeout=SECONDS)[0] for hook in hooks]
        asked = self.registry.requests[before:]
        times = [request.time for request in asked]
        return Round(statuses={hook.returncode for hook in hooks}, outputs=outputs, seconds=time.monotonic() - began,
                     admitted=sum(request.status == 200 for request in asked),
                     refused=sum(request.status == 429 for request in asked),
                     busiest=max((sum(0 <= other - first < 1 for other in times) for first in times), default=0))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._stack.close()
