# SPDX-License-Identifier: GPL-2.0-only
"""PIE, the kernel's own (RFC 8033).

    limit_packets  integer, 1 to 1,000,000      default 1000, the kernel's
    target_us      integer, 1 to 1,000,000      default 15000 (RFC 8033, section 5.1)
    tupdate_us     integer, 1000 to 1,000,000   default 15000 (RFC 8033, section 5.1)
    ecn            boolean: mark instead of drop, where a packet allows it, while the probability is
                   below a tenth (RFC 8033, section 5.1); default false
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
    target_us: int = 15_000
    tupdate_us: int = 15_000
    ecn: bool = False

    def __post_init__(self) -> None:
        check("queue.limit_packets", self.limit_packets, 1, 1_000_000)
        check("queue.target_us", self.target_us, 1, 1_000_000)
        check("queue.tupdate_us", self.tupdate_us, 1_000, 1_000_000)

    def ports(self, mss_bytes: int) -> tuple[Queue, Queue]:
        return Queue(**asdict(self)), Queue(**asdict(self))


@dataclass(frozen=True, kw_only=True)
class Queue(QdiscQueue):
    """One direction."""

    limit_packets: int
    target_us: int
    tupdate_us: int
    ecn: bool

    kind: ClassVar[str] = "pie"
    marks: ClassVar[str | None] = "ecn_mark"
    marks_at: ClassVar[tuple[int, ...]] = (36,)  # ecn_mark of struct tc_pie_xstats

    def discipline(self) -> str:
        return (
            f"pie limit {self.limit_packets} target {self.target_us}us"
            f" tupdate {self.tupdate_us}us {'ecn' if self.ecn else 'noecn'}"
        )
