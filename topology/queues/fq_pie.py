# SPDX-License-Identifier: GPL-2.0-only
"""The kernel's FQ-PIE: it serves flows in turn, each with its own PIE (RFC 8033).

It marks only while the flow's drop probability is below 10 %.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from plan.schema import Within
from topology.qdisc import Ecn, Packets, QdiscQueue
from topology.queues.pie import Target, Update


@dataclass(frozen=True, kw_only=True)
class Queue(QdiscQueue):
    limit_packets: Packets = 10_240  # the kernel's default
    flows: Annotated[
        int,
        Within(1, 65_536),
        "The number of flow queues. A hash sorts each flow into one of them.",
    ] = 1024
    target_us: Target = 15_000
    tupdate_us: Update = 15_000
    ecn: Ecn = False

    kind: ClassVar[str] = "fq_pie"
    marks: ClassVar[str | None] = "ecn_mark"
    marks_at: ClassVar[tuple[int, ...]] = (16,)  # ecn_mark of struct tc_fq_pie_xstats

    def discipline(self) -> str:
        return (
            f"fq_pie limit {self.limit_packets} flows {self.flows} target {self.target_us}us"
            f" tupdate {self.tupdate_us}us {'ecn' if self.ecn else 'noecn'}"
        )


Settings = Queue
