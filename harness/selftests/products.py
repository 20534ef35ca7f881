# SPDX-License-Identifier: GPL-2.0-only
"""What labs of selftests need beside kernel and tests: the image of scripts, and our tools."""

from __future__ import annotations

from pathlib import Path

from harness.host import paths
from harness.kernels import names
from harness.scripts import products

LAB = paths.PROJECT / "lab"
TOOLS = LAB / "selftests" / "tools"
# Of these the first makes no tunnels of its own in each namespace.
WORDS = products.WORDS


def image() -> Path:
    """The image of the labs that scripts run in, made when first used."""
    paths.programs()  # by set-up, with all else that a lab needs
    place = paths.places()["mininet"]
    products.make("image for Mininet", place, [LAB / "mininet" / "build", place])
    return place


def kernel() -> Path:
    """The folder of the kernel for scripts, made when first used."""
    place = paths.places()["full"]
    argv = [LAB / "mininet" / "kernel" / "build", place]
    products.make("kernel for Mininet", place, argv, place / products.COMPLETE)
    return place


def tools() -> Path:
    """The folder of our programs, made when first used."""
    place = names.home() / f"tools-{paths.content(*TOOLS.iterdir())}"
    products.make("tools for selftests", place, [TOOLS / "build", place])
    return place
