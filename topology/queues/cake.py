# SPDX-License-Identifier: GPL-2.0-only
"""CAKE, the kernel's own, without its shaper (Høiland-Jørgensen and others, "Piece of CAKE", 2018).

    memory_bytes  integer, 65,536 to 1,000,000,000: of what waits, as the kernel accounts for it
                  default 4,194,304, the kernel's
    rtt_us        integer, 1000 to 10,000,000   default 100000, the kernel's

The link keeps the rate. All packets are of one class (besteffort); hosts share alike, and
connections within a host (triple-isolate). It marks whatever can be marked.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import ClassVar

from topology.dumbbell import check
from topology.qdisc import QdiscQueue
from topology.queue import Counters


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The table [queue] of an experiment; the queue up is the same."""

    memory_bytes: int = 4_194_304
    rtt_us: int = 100_000

    def __post_init__(self) -> None:
        check("queue.memory_bytes", self.memory_bytes, 65_536, 1_000_000_000)
        check("queue.rtt_us", self.rtt_us, 1_000, 10_000_000)

    def ports(self, mss_bytes: int) -> tuple[Queue, Queue]:
        return Queue(**asdict(self)), Queue(**asdict(self))


@dataclass(frozen=True, kw_only=True)
class Queue(QdiscQueue):
    """One direction."""

    memory_bytes: int
    rtt_us: int

    kind: ClassVar[str] = "cake"
    # TCA_CAKE_STATS_TIN_STATS, the one tin, TCA_CAKE_TIN_STATS_ECN_MARKED_PACKETS
    marks_at: ClassVar[tuple[int, ...]] = (10, 1, 8, 0)

    def discipline(self) -> str:
        return f"cake unlimited besteffort rtt {self.rtt_us}us memlimit {self.memory_bytes}"

    @classmethod
    def marked(cls, counters: Counters) -> int:
        return sum(tin["ecn_mark"] for tin in counters["tins"])
