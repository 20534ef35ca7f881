# SPDX-License-Identifier: GPL-2.0-only
"""Drop tail: a queue of packets that loses what finds it full.

    limit_packets  integer, 1 to 1,000,000   required
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import ClassVar

from topology.dumbbell import check
from topology.qdisc import QdiscQueue


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The table [queue] of an experiment; the queue up is the same."""

    limit_packets: int

    def __post_init__(self) -> None:
        check("queue.limit_packets", self.limit_packets, 1, 1_000_000)

    def ports(self, mss_bytes: int) -> tuple[Queue, Queue]:
        return Queue(**asdict(self)), Queue(**asdict(self))


@dataclass(frozen=True, kw_only=True)
class Queue(QdiscQueue):
    """One direction."""

    limit_packets: int

    kind: ClassVar[str] = "pfifo"

    def discipline(self) -> str:
        return f"pfifo limit {self.limit_packets}"
