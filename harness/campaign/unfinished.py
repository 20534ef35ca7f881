# SPDX-License-Identifier: GPL-2.0-only
"""Of which shards the trials are that have no record yet, so that these shards can be run again."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from itertools import pairwise
from pathlib import Path

from analysis.campaign_file import Entry
from harness.design.shard import Shard, drawn

FOLDER = re.compile(r"0*(\d+)-of-(\d+)")  # Shard.folder


def numbers(
    trials: Sequence[Entry], missing: Collection[str], folders: Sequence[Path]
) -> list[int]:
    """Numbers of the shards that have the missing trials; [] where the folders do not tell.

    They do not where they are of several cuts, have other names than `run --shard` gives them, or
    hold a record that is not of their shard: only some of the trials were cut then (--only).
    """
    known = {folder: cut for folder in folders if (cut := shard_of(folder))}
    counts = {shard.count for shard in known.values()}
    if len(known) != len(folders) or len(counts) != 1:
        return []
    count = counts.pop()
    number = {trials[place].trial: at % count + 1 for at, place in enumerate(drawn(trials))}
    for folder, shard in known.items():
        there = {path.name for path in folder.glob("trials/[!.]*")}
        if any(number.get(name, shard.number) != shard.number for name in there):
            return []
    return sorted({number[name] for name in missing})


def shard_of(folder: Path) -> Shard | None:
    """The shard that a folder is named after."""
    found = FOLDER.fullmatch(folder.resolve().name)
    number, count = map(int, found.groups()) if found else (0, 0)
    return Shard(number=number, count=count) if 1 <= number <= count else None


def listed(found: Sequence[int]) -> str:
    """Numbers in the words of `sbatch --array`: 3-5,31."""
    begins = [b for a, b in pairwise([-1, *found]) if b != a + 1]
    ends = [a for a, b in pairwise([*found, -1]) if b != a + 1]
    return ",".join(f"{a}-{b}" if a != b else f"{a}" for a, b in zip(begins, ends, strict=True))
