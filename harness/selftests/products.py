# SPDX-License-Identifier: GPL-2.0-only
"""What labs of selftests need beside kernel and tests: the image of scripts, and our tools."""

from __future__ import annotations

from pathlib import Path

from harness.host import paths
from harness.kernels import names
from harness.scripts import products

LAB = paths.PROJECT / "lab"
TOOLS = LAB / "selftests" / "tools"


def tools() -> Path:
    """The folder of our programs, made when first used."""
    place = names.home() / f"tools-{paths.content(*TOOLS.iterdir())}"
    products.make("tools for selftests", place, [TOOLS / "build", place])
    return place
