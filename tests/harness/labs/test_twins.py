# SPDX-License-Identifier: GPL-2.0-only
"""What stands in two places because one of them gives the lab image its name: it is the same."""

from __future__ import annotations

from harness.sealed import agent
from tests.small import PROJECT

RECIPES = ("lab/image/build", "lab/arm64/image")
FIRST, LAST = "mkdir -p cellbed ", "sed -E "


def test_a_sealed_lab_mounts_its_share_as_the_image_mounts_one() -> None:
    init = (PROJECT / "lab" / "image" / "init").read_text(encoding="utf-8")
    [line] = [line for line in init.splitlines() if "9p) echo" in line]
    _, kind, _, options = agent.SHARE
    assert f" {kind} X-mount.mkdir,$4,{options}\"" in line


def test_the_images_of_both_processors_are_made_alike() -> None:
    """What the packages' own scripts would have made."""
    blocks = []
    for recipe in RECIPES:
        lines = (PROJECT / recipe).read_text(encoding="utf-8").splitlines()
        begin = next(at for at, line in enumerate(lines) if line.startswith(FIRST))
        end = next(at for at, line in enumerate(lines) if line.startswith(LAST))
        blocks.append([line for line in lines[begin : end + 1] if not line.startswith("#")])
    assert blocks[0] == blocks[1] and len(blocks[0]) > 10
