# SPDX-License-Identifier: GPL-2.0-only
"""The kernel's PIE (RFC 8033).

It marks only while its drop probability is below 10 % (section 5.1).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from plan.schema import Within
from topology.qdisc import Ecn, Packets, QdiscQueue

Target = Annotated[
    int, Within(1, 1_000_000), "The delay that the queue aims at (RFC 8033, section 5.1)."
]
Update = Annotated[
    int,
    Within(1_000, 1_000_000),
    "The time after which the queue computes its drop probability again (RFC 8033, section 5.1).",
]


@dataclass(frozen=True, kw_only=True)
class Queue(QdiscQueue):
    limit_packets: Packets = 1000  # the kernel's default
    target_us: Target = 15_000
    tupdate_us: Update = 15_000
    ecn: Ecn = False

    kind: ClassVar[str] = "pie"
    marks: ClassVar[str | None] = "ecn_mark"
    marks_at: ClassVar[tuple[int, ...]] = (36,)  # ecn_mark of struct tc_pie_xstats

    def discipline(self) -> str:
        return (
            f"pie limit {self.limit_packets} target {self.target_us}us"
            f" tupdate {self.tupdate_us}us {'ecn' if self.ecn else 'noecn'}"
        )


Settings = Queue
