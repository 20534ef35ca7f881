# SPDX-License-Identifier: GPL-2.0-only
"""The kernel's CoDel (RFC 8289): a queue of packets, without cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from plan.schema import Within
from topology.qdisc import Ecn, Packets, QdiscQueue

Target = Annotated[
    int, Within(1, 1_000_000), "The delay that the queue aims at (RFC 8289, section 4.3)."
]
Interval = Annotated[
    int,
    Within(1, 10_000_000),
    "The queue begins to drop when the delay has been above `queue.target_us` for this time (RFC"
    " 8289, section 4.2).",
]


@dataclass(frozen=True, kw_only=True)
class Queue(QdiscQueue):
    limit_packets: Packets = 1000  # the kernel's default
    target_us: Target = 5000
    interval_us: Interval = 100_000
    ecn: Ecn = False

    kind: ClassVar[str] = "codel"
    marks: ClassVar[str | None] = "ecn_mark"
    marks_at: ClassVar[tuple[int, ...]] = (24,)  # ecn_mark of struct tc_codel_xstats

    def discipline(self) -> str:
        return (
            f"codel limit {self.limit_packets} target {self.target_us}us"
            f" interval {self.interval_us}us {'ecn' if self.ecn else 'noecn'}"
        )


Settings = Queue
