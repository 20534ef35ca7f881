# SPDX-License-Identifier: GPL-2.0-only
"""How the links carry an IP packet: in ATM cells, or in an Ethernet frame.

No other file knows how long a packet takes on a link. Standard library only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from plan.atm import AAL5_OVERHEAD_BYTES, CELL_BYTES, CELL_PAYLOAD_BYTES, ETHERNET_HEADER_BYTES


@dataclass(frozen=True, kw_only=True)
class Framing:
    """A packet with its overhead is cut into units, and the link sends whole units.

    Attributes:
        link_layer: its name in topology.link_layer, and tc's (`linklayer`).
        overhead_bytes: what comes with each IP packet.
        payload_bytes: how much of packet and overhead fits into a unit.
        unit_bytes: what a unit takes on the link.
    """

    link_layer: str
    overhead_bytes: int
    payload_bytes: int
    unit_bytes: int

    def units(self, ip_bytes: int) -> int:
        """Return the units of an IP packet. ValueError: the packet has no bytes."""
        if ip_bytes <= 0:
            raise ValueError(f"ip_bytes is {ip_bytes}, but an IP packet has at least 1 byte")
        return -(-(ip_bytes + self.overhead_bytes) // self.payload_bytes)

    def link_bytes(self, ip_bytes: int) -> int:
        """Return the bytes that an IP packet takes on the link."""
        return self.units(ip_bytes) * self.unit_bytes

    def unit_time_ns(self, rate_bit_per_s: float) -> float:
        """Return the transmission time of a unit [ns]."""
        return 8 * self.unit_bytes * 1e9 / rate_bit_per_s

    @property
    def has_cells(self) -> bool:
        """Whether a unit is more than a byte."""
        return self.unit_bytes > 1

    @property
    def beside_ethernet_bytes(self) -> int:
        """The overhead beside the Ethernet header, which queueing disciplines count already."""
        return self.overhead_bytes - ETHERNET_HEADER_BYTES


# RFC 2684, section 5.1, and AAL5: plan/atm.py.
ATM = Framing(
    link_layer="atm",
    overhead_bytes=AAL5_OVERHEAD_BYTES,
    payload_bytes=CELL_PAYLOAD_BYTES,
    unit_bytes=CELL_BYTES,
)
# IEEE 802.3, clauses 3.1.1 and 4.4.2: the header 14, the frame check sequence 4, the preamble with
# the start delimiter 8, and the gap between two frames 12. A unit is a byte. A packet of less than
# 46 bytes has no padding here, so that its time depends on its length alone.
ETHERNET = Framing(link_layer="ethernet", overhead_bytes=38, payload_bytes=1, unit_bytes=1)
FRAMINGS: Mapping[str, Framing] = {one.link_layer: one for one in (ATM, ETHERNET)}
