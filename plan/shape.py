# SPDX-License-Identifier: GPL-2.0-only
"""The interface of a topology. Each file or folder in `topology/shapes/` is one kind of topology.

The file defines two classes:

    Settings   a frozen dataclass with the keys of the experiment's table [topology]. `plan()`
               returns the same settings in the lab's units (plan.plan.Topology). The constructor
               checks the values (ValueError).
    Shape      a frozen dataclass and a subclass of Shape below. Its fields are the values that
               only this kind has; the plan stores them.

No other file names the kind. The host and the lab import the file: standard library only.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Literal

from plan.layout import Layout
from plan.schema import Within

if TYPE_CHECKING:
    from plan.plan import Topology

WIDE_RATE = Within(1_000_000, 10_000_000_000)

# Keys that several kinds have.
AccessRate = Annotated[
    int,
    WIDE_RATE,
    "The rate of each access link. An access link connects a host with its switch. The rate"
    " counts all bits of the cells or frames, as `topology.rate_bit_per_s` does. By default, it"
    " is the rate that a SONET line (an optical link) of 155.52 Mbit/s has for cells.",
]
LinkLayer = Annotated[
    Literal["atm", "ethernet"],
    "How all links carry packets ([below](#cells-or-ethernet-frames)). `atm`: in ATM cells, even if"
    " the queue counts packets. `ethernet`: in Ethernet frames; a packet takes its IP bytes and 38"
    " bytes more. A queue of the kind `cells` needs `atm`.",
]
AccessDelay = Annotated[int, Within(1, 1_000_000), "The one-way delay of each access link."]
Mss = Annotated[
    int,
    Within(88, 9180),
    "The largest TCP payload of a packet (MSS). The largest packet (MTU) has 40 bytes more.",
]
Coalesce = Annotated[
    int,
    Within(0, 10_000),
    "The time for which the network card of a host waits for more packets. The host then takes"
    " them together, and one acknowledgement can answer many segments (GRO, generic"
    " receive offload). A host also hands over up to 64 KB of data at a time to its card, and the"
    " card cuts the data into segments (GSO, generic segmentation offload). With 0, hosts send and"
    " take single packets.",
]
RATE = Within(1_000_000, 1_000_000_000)
DELAY = Within(0, 86_400_000_000)  # a day; Mars is at most 23 minutes away
SONET_BIT_PER_S = 149_760_000


class Shape(ABC):
    """The part of a plan's topology that only one kind has."""

    @abstractmethod
    def layout(self, topology: Topology) -> Layout:
        """Return the network as data."""

    @property
    def built(self) -> Sequence[object]:
        """The values that are fixed when a network is built, beside the dumbbell's."""
        return ()

    @property
    def kernel_options(self) -> Sequence[str]:
        """The Kconfig options that the kernel of such a network needs, beside those of set-up's."""
        return ()
