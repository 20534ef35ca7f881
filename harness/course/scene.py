# SPDX-License-Identifier: GPL-2.0-only
"""What a lab's picture shows, in words and numbers: from the plans of its trials."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.course.seeds import Draw
from plan.plan import Plan


@dataclass(frozen=True, kw_only=True)
class Scene:
    """The trials of a lab; draw: what is another for each student, empty in a student's own.

    lost: the segments that the lab loses on purpose.
    """

    plans: Sequence[Plan]
    draw: Mapping[str, Draw]
    lost: Sequence[int]

    @property
    def plan(self) -> Plan:
        """Of the first trial, for what all trials share."""
        return self.plans[0]

    @property
    def pairs(self) -> int:
        return self.plan.topology.pairs

    @property
    def senders(self) -> str:
        return "1 sender" if self.pairs == 1 else f"{self.pairs} senders"

    @property
    def rate(self) -> str:
        return f"{self.plan.topology.rate_bit_per_s / 1e6:g} Mbit/s"

    @property
    def delay(self) -> str:
        """One way."""
        if self.plan.topology.delay == "connection":
            return "each connection: its own delay"
        own = f"{self.plan.topology.delay_ns / 1e6:g}"
        return f"{self.drawn('topology.delay_us', own, 1000)} ms each way"

    @property
    def segment(self) -> str:
        own = str(self.plan.topology.mss_bytes)
        return f"segments of {self.drawn('topology.mss_bytes', own)} bytes"

    @property
    def room(self) -> str:
        """Of the queue under test."""
        cells = sorted({p.queue.down.room_cells or 0 for p in self.plans})
        if not cells[0]:
            return f"{getattr(self.plan.queue.down, 'limit_packets', 'many')} packets"
        own = " or ".join([", ".join(map(str, cells[:-1])), str(cells[-1])][len(cells) < 2 :])
        return f"{self.drawn('queue.buffer_cells', own)} cells"

    def drawn(self, key: str, own: str, unit: float = 1) -> str:
        """A value, or the range that it is drawn from."""
        if key not in self.draw:
            return own
        return f"{self.draw[key].least / unit:g} to {self.draw[key].most / unit:g}"
