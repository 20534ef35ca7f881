# SPDX-License-Identifier: GPL-2.0-only
"""FQ-CoDel, the kernel's own (RFC 8290): connections in turns, each with a CoDel of its own.

    limit_packets  integer, 1 to 1,000,000    default 10240 (RFC 8290, section 5.2.3)
    flows          integer, 1 to 65,536       default 1024 (RFC 8290, section 5.2.6)
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

    limit_packets: int = 10_240
    flows: int = 1024
    target_us: int = 5000
    interval_us: int = 100_000
    ecn: bool = False

    def __post_init__(self) -> None:
        check("queue.limit_packets", self.limit_packets, 1, 1_000_000)
        check("queue.flows", self.flows, 1, 65_536)
        check("queue.target_us", self.target_us, 1, 1_000_000)
        check("queue.interval_us", self.interval_us, 1, 10_000_000)

    def ports(self, mss_bytes: int) -> tuple[Queue, Queue]:
        return Queue(**asdict(self)), Queue(**asdict(self))


@dataclass(frozen=True, kw_only=True)
class Queue(QdiscQueue):
    """One direction."""

    limit_packets: int
    flows: int
    target_us: int
    interval_us: int
    ecn: bool

    kind: ClassVar[str] = "fq_codel"
    marks: ClassVar[str | None] = "ecn_mark"
    marks_at: ClassVar[tuple[int, ...]] = (12,)  # ecn_mark of struct tc_fq_codel_xstats

    def discipline(self) -> str:
        return (
            f"fq_codel limit {self.limit_packets} flows {self.flows} target {self.target_us}us"
            f" interval {self.interval_us}us {'ecn' if self.ecn else 'noecn'}"
        )
