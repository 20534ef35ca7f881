# SPDX-License-Identifier: GPL-2.0-only
"""The video: the size of each segment at each level, and its file.

The video has 200 segments and then begins again. A file consists of holes (workload/specweb.py):
it reads as zeros and takes no memory.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from workload.dash.parameters import NS_PER_S, Parameters
from workload.streams import stream

SEGMENTS = 200
BITS_PER_BYTE = 8


@dataclass(frozen=True)
class Video:
    """Levels count from 0, the lowest; segments count from 0 without an end."""

    params: Parameters
    seed: int

    def size_bytes(self, level: int, segment: int) -> int:
        """Return the size of a segment, at least 1 byte."""
        bits = self.params.ladder_bit_per_s[level] * self.params.segment_ns / NS_PER_S
        return max(1, round(bits * self.factor(segment) / BITS_PER_BYTE))

    def factor(self, segment: int) -> float:
        """Return the size of a segment relative to the mean of its level."""
        spread = self.params.size_spread
        if spread == 0:
            return 1.0
        drawn = stream(self.seed, "dash", "size", segment % SEGMENTS).random()
        return 1 + spread * (2 * drawn - 1)

    def path(self, level: int, segment: int) -> str:
        """Return the path of a segment below the document root, as a request names it."""
        return f"/{level}/{segment % SEGMENTS}"

    def most_segments(self) -> int:
        """Return the number of different segments that a player can ask for in a trial."""
        most = self.params.duration_ns + self.params.buffer_ns
        return min(SEGMENTS, most // self.params.segment_ns + 2)

    def write(self, folder: Path) -> None:
        """Make all files below a folder that does not exist."""
        folder.mkdir()
        for level in range(len(self.params.ladder_bit_per_s)):
            (folder / str(level)).mkdir()
            for segment in range(self.most_segments()):
                with (folder / self.path(level, segment).lstrip("/")).open("wb") as file:
                    os.truncate(file.fileno(), self.size_bytes(level, segment))


def start_ns(params: Parameters, seed: int, pair: int) -> int:
    """Return the moment at which a pair's player starts, after time 0 [ns]."""
    jitter_ns = params.start_jitter_ms * 1_000_000
    return int(stream(seed, "dash", "start", pair).random() * jitter_ns)
