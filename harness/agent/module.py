# SPDX-License-Identifier: GPL-2.0-only
"""Loads a kernel module by its name."""

from __future__ import annotations

from pathlib import Path

from harness.agent import callbacks
from topology import modules
from topology.run import run


def load(name: str) -> None:
    """Load a module unless it is there: set-up's, else the system's own.

    Raises:
        ModuleError, CommandError: the kernel did not take it.
        FlavorError: it is the TCP module, and this kernel calls its functions in another order.
    """
    if not Path("/sys/module", name).exists():
        if modules.is_ours(name):
            modules.insert(name)
        else:
            run(["modprobe", name])
    if name == callbacks.MODULE:
        callbacks.check()
