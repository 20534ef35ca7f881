# SPDX-License-Identifier: GPL-2.0-only
"""Folders of the host that a lab was told of (LabSpec.shares)."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from topology.run import run

LAYERS = Path("/run/layers")


def mount_share(name: str, place: Path) -> None:
    """A folder of the host, read-only, by what the lab's kernel or first process was told."""
    told = os.environ[f"cellbed_{name}"]
    argv = {
        "hostfs": ["-t", "hostfs", "-o", f"ro,hostfs={told}", "none"],
        "9p": ["-t", "9p", "-o", "ro,trans=virtio,version=9p2000.L,msize=262144", told],
        "bind": ["--bind", told],
    }
    kind = os.environ.get("cellbed_share", "hostfs")  # noqa: SIM112 (of the boot line)
    run(["mount", "-n", *argv[kind], str(place)])


@cache
def layer(name: str) -> Path:
    """The folder of a layer (harness/labs/layers.py), mounted when it is first asked for."""
    place = LAYERS / name
    place.mkdir(parents=True)
    mount_share(name, place)
    return place
