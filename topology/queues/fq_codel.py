# SPDX-License-Identifier: GPL-2.0-only
"""The kernel's FQ-CoDel (RFC 8290): it serves flows in turn, each with its own CoDel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from plan.schema import Within
from topology.qdisc import Ecn, Packets, QdiscQueue
from topology.queues.codel import Interval, Target


@dataclass(frozen=True, kw_only=True)
class Queue(QdiscQueue):
    limit_packets: Packets = 10_240  # RFC 8290, section 5.2.3
    flows: Annotated[
        int,
        Within(1, 65_536),
        "The number of flow queues. A hash sorts each flow into one of them (RFC 8290, section"
        " 5.2.6).",
    ] = 1024
    target_us: Target = 5000
    interval_us: Interval = 100_000
    ecn: Ecn = False

    kind: ClassVar[str] = "fq_codel"
    marks: ClassVar[str | None] = "ecn_mark"
    marks_at: ClassVar[tuple[int, ...]] = (12,)  # ecn_mark of struct tc_fq_codel_xstats

    def discipline(self) -> str:
        return (
            f"fq_codel limit {self.limit_packets} flows {self.flows} target {self.target_us}us"
            f" interval {self.interval_us}us {'ecn' if self.ecn else 'noecn'}"
        )


Settings = Queue
