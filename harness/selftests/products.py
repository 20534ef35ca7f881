# SPDX-License-Identifier: GPL-2.0-only
"""What labs of selftests need beside kernel and tests: the image of scripts, and our tools."""

from __future__ import annotations

from pathlib import Path

from harness.host import paths
from harness.kernels import names
from harness.scripts import products
from harness.selftests.choice import RUN_BY_IT, Test

LAB = paths.PROJECT / "lab"
TOOLS = LAB / "selftests" / "tools"
NAMES = LAB / "selftests" / "names"
PROGRAMS = LAB / "selftests" / "programs"


def words(test: Test) -> str:
    """What the kernel is told at its boot.

    Tests such as net/rtnetlink.sh expect the devices (gre0) that a module of tunnels makes when it
    is loaded. Scripts of packetdrill have no tunnels.
    """
    if test.file.endswith(RUN_BY_IT):
        return products.WORDS
    return products.WORDS.replace("fb_tunnels=none ", "")


def tools() -> Path:
    """The folder of our programs, made when first used."""
    place = names.home() / f"tools-{paths.content(*TOOLS.iterdir())}"
    products.make("tools for selftests", place, [TOOLS / "build", place])
    return place
