# SPDX-License-Identifier: GPL-2.0-only
"""Adaptive RED as in ns-2, with the rule of its queue/red.cc (topology/red_ns2/rule.h)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal

from plan.atm import ETHERNET_HEADER_BYTES
from plan.dumbbell import Dumbbell
from plan.queue import Counters, Port
from plan.schema import Within, check_range
from topology import red_ns2
from topology.qdisc import CHILD_HANDLE, CHILD_PARENT, QdiscQueue

FIRST_P = 0.1  # ns-2's linterm_ is 10
RULES = {
    "spacing": red_ns2.FLAG_EAGER,
    "short": red_ns2.FLAG_SHORT,
    "size": red_ns2.FLAG_BLIND,
    "slope": red_ns2.FLAG_PRESENT,
}


@dataclass(frozen=True, kw_only=True)
class Queue(QdiscQueue):
    limit_packets: Annotated[
        int,
        Within(1, 1_000_000),
        'The size of the queue in packets. With `queue.count = "bytes"`, the unit is a packet of'
        " `queue.mean_packet_bytes`.",
    ]
    ecn: Annotated[
        bool,
        "The queue marks a chosen packet if the packet allows ECN (explicit congestion"
        " notification) and the drop probability is below 0.1. The queue drops every other chosen"
        " packet.",
    ] = False
    gentle: Annotated[
        bool,
        "Above the upper threshold, do not drop every packet: let the drop probability rise to 1"
        " at twice that threshold. ns-2 has done this since 2001.",
    ] = True
    count: Annotated[
        Literal["packets", "bytes"],
        "The unit in which the length of the queue is counted. ns-2 counted packets until"
        " October 2004 and counts bytes since then. With bytes, the queue drops a large packet"
        " more often than a small packet.",
    ] = "packets"
    mean_packet_bytes: Annotated[
        int | None,
        Within(40, 65_535),
        "The size of a mean packet on the middle link, with its Ethernet header. cellbed"
        " converts the thresholds from packets to bytes with this size, and computes the weight of"
        " the average from it. Thresholds that cellbed computes depend on this size, too. The"
        " default is the size of a full packet.",
    ] = None
    min_packets: Annotated[
        int | None,
        Within(1),
        "The lower threshold of the average queue, in packets of `queue.mean_packet_bytes`. Set"
        " this key and `queue.max_packets`, or leave both keys out. If you leave them out, cellbed"
        " computes both thresholds from the link, as ns-2 has done since 2001.",
    ] = None
    max_packets: Annotated[
        int | None,
        Within(2),
        "The upper threshold of the average queue, in packets of `queue.mean_packet_bytes`.",
    ] = None

    as_linux: Annotated[
        tuple[Literal["spacing", "short", "size", "slope"], ...],
        "The rules in which the queue follows Linux and not ns-2. Use the key to measure the"
        " effect of each rule. `spacing`: the gap between two drops is drawn from 0 to 1/p packets,"
        " where p is the drop probability. In ns-2, the gap is drawn from 1/p to 2/p packets."
        " `short`: if the average queue is above the lower threshold, the queue can drop a packet"
        " even while at most one packet waits. The queue of ns-2 never drops while at most one"
        ' packet waits. `size`: with `queue.count = "bytes"`, a packet\'s size does not change its'
        " drop probability. `slope`: above the upper threshold, the drop probability rises from the"
        " present value of max_P. In ns-2, it rises from the first value of max_P, 0.1. (max_P is"
        " the drop probability at the upper threshold. The queue changes max_P during the trial,"
        " with and without `slope`.)",
    ] = field(default=(), metadata={"later": True})

    kind: ClassVar[str] = red_ns2.KIND
    module: ClassVar[str | None] = red_ns2.MODULE
    marks_at: ClassVar[tuple[int, ...]] = (12,)  # of struct red_ns2_xstats

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.min_packets is None) != (self.max_packets is None):
            raise ValueError("queue: set both min_packets and max_packets, or neither")
        if self.min_packets is not None and self.max_packets is not None:
            check_range("queue.max_packets", self.max_packets, 2, self.limit_packets)
            check_range("queue.min_packets", self.min_packets, 1, self.max_packets - 1)

    def limit(self, mtu_bytes: int) -> tuple[str, int]:
        if self.count == "packets":
            return "packets", self.limit_packets
        packet_bytes = self.mean_packet_bytes or mtu_bytes + ETHERNET_HEADER_BYTES
        return "bytes", self.limit_packets * packet_bytes

    def discipline(self) -> str:
        raise NotImplementedError("tc cannot set up this queue; add() does")

    def add(self, port: Port) -> None:
        wanted = self.on(port.dumbbell)
        red_ns2.put(wanted, port.device, parent=CHILD_PARENT, handle=CHILD_HANDLE)

    def read(self, port: Port) -> dict[str, Any]:
        return {**super().read(port), **red_ns2.counters(port.device)}

    @classmethod
    def marked(cls, counters: Counters) -> int:
        """Return 0: tc does not tell the marks. read() adds them."""
        return 0

    def on(self, network: Dumbbell) -> red_ns2.Parameters:
        """Return the parameters for a link, with the link's rate for frames of full segments."""
        full_bytes = network.mtu_bytes + ETHERNET_HEADER_BYTES
        framing = network.framing
        unit_ps = round(network.middle.unit_time_ns() * 1000)
        packet_bytes = self.mean_packet_bytes or full_bytes
        packet_ps = framing.units(network.mtu_bytes) * unit_ps * packet_bytes / full_bytes
        least, most = red_ns2.thresholds(1e12 / packet_ps)
        if self.min_packets is not None and self.max_packets is not None:
            least, most = self.min_packets, self.max_packets
        unit = packet_bytes if self.count == "bytes" else 1
        chosen = {
            red_ns2.FLAG_ECN: self.ecn,
            red_ns2.FLAG_BYTES: self.count == "bytes",
            red_ns2.FLAG_GENTLE: self.gentle,
            **{flag: rule in self.as_linux for rule, flag in RULES.items()},
        }
        return red_ns2.Parameters(
            weight=red_ns2.weight(1e12 / packet_ps),
            first_p=round(FIRST_P * red_ns2.Q32),
            packet_ps=round(packet_ps),
            cell_ps=unit_ps,
            limit=self.limit_packets * unit,
            min=round(least * unit * red_ns2.Q8),
            max=round(most * unit * red_ns2.Q8),
            packet_bytes=packet_bytes,
            cell_overhead=framing.beside_ethernet_bytes,
            cell_payload=framing.payload_bytes,
            flags=sum(flag for flag, wanted in chosen.items() if wanted),
        )


Settings = Queue
