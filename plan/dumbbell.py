# SPDX-License-Identifier: GPL-2.0-only
"""The dumbbell of 98-0876R1, figure 1, as data.

    server i --access--> [sw2] --queue, middle rate--> (sat: delay) --> [sw1] --access--> client i

The other direction is the same. It is the layout with one middle link (plan/layout.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from plan.layout import MAX_PAIRS, Layout, Link, Middle
from plan.schema import check_range

BOX = "sat"  # the box between the switches, with the propagation delay
PORTS: Mapping[str, str] = {"down": "sw2-sat", "up": "sw1-sat"}


@dataclass(frozen=True, kw_only=True)
class Dumbbell(Layout):
    """N client-server pairs over one middle link.

    Attributes:
        middle: the bottleneck; its delay is one way.

    Raises:
        ValueError: a value is out of range; the text names the value and the allowed range.
    """

    middle: Link

    def __post_init__(self) -> None:
        check_range("pairs", self.pairs, 1, MAX_PAIRS)
        check_range("mss_bytes", self.mss_bytes, 88, 65495)
        for name, link in (("access", self.access), ("middle", self.middle)):
            check_range(f"{name}.rate_bit_per_s", link.rate_bit_per_s, 1_000_000, 10_000_000_000)
            check_range(f"{name}.delay_ns", link.delay_ns, 0, 86_400 * 10**9)

    def middles(self) -> Sequence[Middle]:
        return [Middle(name="", link=self.middle, near="sw2", far="sw1", box=BOX, devices=PORTS)]

    def route(self, pair: int) -> Sequence[Middle]:
        return self.middles()

    def classes(self) -> Mapping[str, Sequence[int]]:
        return {"": range(1, self.pairs + 1)}
