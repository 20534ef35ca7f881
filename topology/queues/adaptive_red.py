# SPDX-License-Identifier: GPL-2.0-only
"""Adaptive RED (Floyd, Gummadi, Shenker 2001) with the kernel's red; topology/adaptive_red.py."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

from plan.atm import ETHERNET_HEADER_BYTES
from plan.dumbbell import Dumbbell
from plan.queue import Port
from plan.schema import Within, check_range
from topology import adaptive_red
from topology.qdisc import CHILD_HANDLE, CHILD_PARENT, Ecn, QdiscQueue


@dataclass(frozen=True, kw_only=True)
class Queue(QdiscQueue):
    limit_packets: Annotated[
        int,
        Within(1, 1_000_000),
        "The size of the queue in packets of the largest size. The queue counts bytes, so it can"
        " hold a larger number of small packets.",
    ]
    ecn: Ecn = False
    drop_above_max: Annotated[
        bool,
        "This key matters only with `queue.ecn`, and only while the average queue is above the"
        " upper threshold. true: the queue drops the packets that it chooses. false: the queue"
        " marks them. With `queue.gentle`, the queue chooses packets at random. Without"
        " `queue.gentle`, it chooses every packet.",
    ] = False
    gentle: Annotated[
        bool,
        "Above the upper threshold, do not drop every packet: let the drop probability rise to 1"
        " at twice that threshold. ns-2 has done this since 2001.",
    ] = False
    min_packets: Annotated[
        int | None,
        Within(1),
        "The lower threshold of the average queue, in packets of the largest size. Set this key and"
        " `queue.max_packets`, or leave both keys out. If you leave them out, cellbed computes both"
        " thresholds from the link (Floyd, Gummadi, Shenker 2001, section 5).",
    ] = None
    max_packets: Annotated[
        int | None,
        Within(2),
        "The upper threshold of the average queue, in packets of the largest size.",
    ] = None

    kind: ClassVar[str] = "red"
    marks: ClassVar[str | None] = "marked"
    marks_at: ClassVar[tuple[int, ...]] = (12,)  # `marked` of struct tc_red_xstats

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.min_packets is None) != (self.max_packets is None):
            raise ValueError("queue: set both min_packets and max_packets, or neither")
        if self.min_packets is not None and self.max_packets is not None:
            check_range("queue.max_packets", self.max_packets, 2, self.limit_packets)
            check_range("queue.min_packets", self.min_packets, 1, self.max_packets - 1)

    @property
    def patched(self) -> str | None:
        return "queue.gentle = true" if self.gentle else None

    def limit(self, mtu_bytes: int) -> tuple[str, int]:
        return "bytes", self.limit_packets * (mtu_bytes + ETHERNET_HEADER_BYTES)

    def discipline(self) -> str:
        raise NotImplementedError("tc cannot set up this queue; add() does")

    def add(self, port: Port) -> None:
        wanted = self.on(port.dumbbell)
        adaptive_red.put(wanted, port.device, parent=CHILD_PARENT, handle=CHILD_HANDLE)
        if adaptive_red.flags_on(port.device) != wanted.flags:
            raise RuntimeError(
                f"{port.device}: this kernel's red does not know all of the flags adaptive, ecn,"
                " drop_above_max and gentle; lab/kernel/patches/0010 adds gentle"
            )

    def on(self, network: Dumbbell) -> adaptive_red.AdaptiveRed:
        """Return the parameters for a link, with the link's rate for frames of full segments."""
        frame_bytes = network.mtu_bytes + ETHERNET_HEADER_BYTES
        frame_ns = network.middle.time_ns(network.mtu_bytes)
        found = adaptive_red.automatic(
            rate_bit_per_s=round(frame_bytes * 8e9 / frame_ns),
            packet_bytes=frame_bytes,
            limit_bytes=self.limit_packets * frame_bytes,
        )
        if self.min_packets is not None and self.max_packets is not None:
            found = replace(
                found,
                min_bytes=self.min_packets * frame_bytes,
                max_bytes=self.max_packets * frame_bytes,
            )
        return replace(found, ecn=self.ecn, drop_above_max=self.drop_above_max, gentle=self.gentle)


Settings = Queue
