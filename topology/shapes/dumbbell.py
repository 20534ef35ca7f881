# SPDX-License-Identifier: GPL-2.0-only
"""The dumbbell: all pairs share one middle link (98-0876R1, figure 1; plan/dumbbell.py)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from plan import plan, shape
from plan.dumbbell import Dumbbell
from plan.layout import MAX_PAIRS
from plan.schema import Within
from plan.shape import AccessDelay, AccessRate, Coalesce, LinkLayer, Mss


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The keys of the dumbbell. Rates count all bits of cells or frames."""

    pairs: Annotated[
        int, Within(1, MAX_PAIRS), "The number of clients. Each client has its own server."
    ]
    rate_bit_per_s: Annotated[
        int,
        shape.WIDE_RATE,
        "The rate of the middle link, which all pairs share. The rate counts all bytes of each ATM"
        " cell, or of each Ethernet frame (`topology.link_layer`).",
    ]
    delay_us: Annotated[int, shape.DELAY, "The one-way delay of the middle link."]
    access_rate_bit_per_s: AccessRate = shape.SONET_BIT_PER_S
    access_delay_us: AccessDelay = 5
    mss_bytes: Mss
    delay: Annotated[
        str,
        "How the delay differs between connections. With `connection`, each TCP connection gets a"
        " round trip of its own in addition to the path's. The workload `packmime` needs"
        " `connection`, and no other workload allows it.",
    ] = "constant"
    loss: Annotated[
        Mapping[str, Any] | Literal["none"],
        "The losses of the path itself, after the queue ([below](#losses-of-the-path)).",
    ] = "none"
    path: Annotated[
        str | Mapping[str, Any],
        "How rate, delay, loss and outage of the middle link change during the trial: a CSV file,"
        " or a table with the `kind` of a path ([moving-paths.md](moving-paths.md)). With `none`"
        " the link stays as it is.",
    ] = "none"
    coalesce_us: Coalesce = 0
    link_layer: LinkLayer = "atm"

    def plan(self) -> plan.Topology:
        """Return the same settings in the lab's units, without `loss` and `path`."""
        return plan.Topology(
            pairs=self.pairs,
            rate_bit_per_s=self.rate_bit_per_s,
            delay_ns=self.delay_us * 1000,
            access_rate_bit_per_s=self.access_rate_bit_per_s,
            access_delay_ns=self.access_delay_us * 1000,
            mss_bytes=self.mss_bytes,
            delay=self.delay,
            coalesce_ns=self.coalesce_us * 1000,
            link_layer=self.link_layer,
        )


@dataclass(frozen=True, kw_only=True)
class Shape(shape.Shape):
    """A dumbbell has no values but those of each topology, and a plan does not store its shape."""

    def layout(self, topology: plan.Topology) -> Dumbbell:
        return topology.dumbbell()
