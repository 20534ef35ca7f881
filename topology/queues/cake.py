# SPDX-License-Identifier: GPL-2.0-only
"""The kernel's CAKE without its shaper (Høiland-Jørgensen and others, "Piece of CAKE", 2018).

The link keeps the rate. All packets are in one class (besteffort). Hosts get equal shares, and so
do the connections of a host (triple-isolate). CAKE always uses ECN: where its rule would drop
a packet that allows ECN, it marks the packet.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from plan.queue import Counters
from plan.schema import Within
from topology.qdisc import QdiscQueue


@dataclass(frozen=True, kw_only=True)
class Queue(QdiscQueue):
    # The defaults are the kernel's.
    memory_bytes: Annotated[
        int,
        Within(65_536, 1_000_000_000),
        "The memory that waiting packets may use, as the kernel counts memory.",
    ] = 4_194_304
    rtt_us: Annotated[
        int,
        Within(1_000, 10_000_000),
        "The round trip for which the kernel tunes cake's drops and marks.",
    ] = 100_000

    kind: ClassVar[str] = "cake"
    # TCA_CAKE_STATS_TIN_STATS, the one tin, TCA_CAKE_TIN_STATS_ECN_MARKED_PACKETS
    marks_at: ClassVar[tuple[int, ...]] = (10, 1, 8, 0)

    def discipline(self) -> str:
        return f"cake unlimited besteffort rtt {self.rtt_us}us memlimit {self.memory_bytes}"

    @classmethod
    def marked(cls, counters: Counters) -> int:
        return sum(tin["ecn_mark"] for tin in counters["tins"])


Settings = Queue
