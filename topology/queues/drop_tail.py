# SPDX-License-Identifier: GPL-2.0-only
"""Drop tail: a queue of packets that drops arriving packets when it is full."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from topology.qdisc import Packets, QdiscQueue


@dataclass(frozen=True, kw_only=True)
class Queue(QdiscQueue):
    limit_packets: Packets

    kind: ClassVar[str] = "pfifo"

    def discipline(self) -> str:
        return f"pfifo limit {self.limit_packets}"


Settings = Queue
