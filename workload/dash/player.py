# SPDX-License-Identifier: GPL-2.0-only
"""A player's buffer: it plays, stalls, and says when it wants the next segment. Pure.

All moments are whole nanoseconds since time 0 of the trial, so nothing is rounded.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from workload.dash.parameters import Parameters


@dataclass
class Stall:
    """A time without video. end_ns: None until the player plays again."""

    begin_ns: int
    end_ns: int | None = None


@dataclass
class Player:
    """A player that starts at a moment.

    Attributes:
        buffer_ns: the video in the buffer at the moment `at_ns`.
        played_from_ns: when it first played; None: it has not played yet.
    """

    params: Parameters
    start_ns: int
    buffer_ns: int = 0
    at_ns: int = 0
    playing: bool = False
    played_from_ns: int | None = None
    stalls: list[Stall] = field(default_factory=list)

    def advance(self, now_ns: int) -> None:
        """Play until a moment; note a stall if the buffer became empty before it."""
        if self.playing:
            left_ns = self.buffer_ns - (now_ns - self.at_ns)
            if left_ns < 0:
                self.stalls.append(Stall(now_ns + left_ns))
                self.playing = False
            self.buffer_ns = max(0, left_ns)
        self.at_ns = now_ns

    def complete(self, now_ns: int) -> None:
        """Take a whole segment that has come at a moment."""
        self.advance(now_ns)
        self.buffer_ns += self.params.segment_ns
        if self.playing or self.buffer_ns < self.params.to_play * self.params.segment_ns:
            return
        self.playing = True
        if self.played_from_ns is None:
            self.played_from_ns = now_ns
        else:
            self.stalls[-1].end_ns = now_ns

    def due_ns(self) -> int:
        """Return the moment of the next request: when the buffer has room for a segment."""
        over_ns = self.buffer_ns + self.params.segment_ns - self.params.buffer_ns
        return max(self.at_ns + max(0, over_ns), self.start_ns)
