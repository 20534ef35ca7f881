# SPDX-License-Identifier: GPL-2.0-only
"""CoDel, the kernel's own (RFC 8289): a queue of packets, without cells.

    limit_packets  integer, 1 to 1,000,000    default 1000, the kernel's
    target_us      integer, 1 to 1,000,000    default 5000 (RFC 8289, section 4.3)
    interval_us    integer, 1 to 10,000,000   default 100000 (RFC 8289, section 4.2)
    ecn            boolean: mark instead of drop, where a packet allows it; default false
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import ClassVar

from topology.dumbbell import check
from topology.qdisc import QdiscQueue


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The table [queue] of an experiment; the queue up is the same."""

    limit_packets: int = 1000
    target_us: int = 5000
    interval_us: int = 100_000
    ecn: bool = False

    def __post_init__(self) -> None:
        check("queue.limit_packets", self.limit_packets, 1, 1_000_000)
        check("queue.target_us", self.target_us, 1, 1_000_000)
        check("queue.interval_us", self.interval_us, 1, 10_000_000)

    def ports(self, mss_bytes: int) -> tuple[Queue, Queue]:
        return Queue(**asdict(self)), Queue(**asdict(self))


@dataclass(frozen=True, kw_only=True)
class Queue(QdiscQueue):
    """One direction."""

    limit_packets: int
    target_us: int
    interval_us: int
    ecn: bool

    kind: ClassVar[str] = "codel"
    marks: ClassVar[str | None] = "ecn_mark"
    marks_at: ClassVar[tuple[int, ...]] = (24,)  # ecn_mark of struct tc_codel_xstats

    def discipline(self) -> str:
        return (
            f"codel limit {self.limit_packets} target {self.target_us}us"
            f" interval {self.interval_us}us {'ecn' if self.ecn else 'noecn'}"
        )
