# SPDX-License-Identifier: GPL-2.0-only
"""Adaptive RED as in ns-2 on a device: the queueing discipline red_ns2, a kernel module of the lab.

rule.h has the rule, and sch_red_ns2.c has the discipline. tc knows neither the parameters nor the
counters of this discipline, so both go over netlink.
"""

from __future__ import annotations

import math
import socket
import struct
from dataclasses import astuple, dataclass

from plan.schema import check_range
from topology import modules, netlink, rtnetlink
from topology.adaptive_red import RTM_NEWQDISC, TCA_KIND, TCA_OPTIONS
from topology.rtnetlink import CREATE, QDISC, REPLACE, Request, attribute

KIND = "red_ns2"
MODULE = "sch_red_ns2"
TCA_PARMS, APP_STATS = 1, 4
FLAG_ECN, FLAG_BYTES, FLAG_GENTLE = 1, 2, 4
FLAG_EAGER, FLAG_SHORT, FLAG_BLIND, FLAG_PRESENT = 8, 16, 32, 64
Q8, Q32 = 2**8, 2**32
MOST = 2**23
# struct red_ns2_parms. struct red_ns2_xstats has four counters, then these parameters.
PARMS = struct.Struct("=4Q8I")
COUNTERS = struct.Struct("=4I")


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """struct red_ns2_parms of rule.h, in its units. Lengths are packets, or bytes with FLAG_BYTES.

    Raises:
        ValueError: a value is out of range; the text names the value and the allowed range.
    """

    weight: int
    first_p: int
    packet_ps: int
    cell_ps: int
    limit: int
    min: int
    max: int
    packet_bytes: int
    cell_overhead: int
    cell_payload: int
    flags: int

    def __post_init__(self) -> None:
        check_range("weight", self.weight, 1, Q32 - 1)
        check_range("first_p", self.first_p, 1, Q32)
        check_range("packet_ps", self.packet_ps, 1, 10**15)
        check_range("cell_ps", self.cell_ps, 1, 10**15)
        check_range("limit", self.limit, 1, MOST)
        check_range("packet_bytes", self.packet_bytes, 1, 65_535)
        check_range("max", self.max, self.min + 1, Q32 - 1)
        check_range("min", self.min, 1, self.max - 1)

    def packed(self) -> bytes:
        return PARMS.pack(*astuple(self), 0)


def weight(packets_per_s: float) -> int:
    """Return the default of ns-2's q_weight_: 1 - exp(-1/C), as Q32."""
    return round(-math.expm1(-1 / packets_per_s) * Q32)


def thresholds(packets_per_s: float) -> tuple[float, float]:
    """Return ns-2's defaults of thresh_ and maxthresh_ [mean packets].

    The target is a delay of 5 ms; thresh_ is at least 5 packets.
    """
    least = max(5.0, packets_per_s * 0.005 / 2)
    return least, 3 * least


def request(wanted: Parameters, ifindex: int, *, parent: int, handle: int) -> Request:
    """Return the request that creates the discipline on a device or replaces the old one."""
    body = QDISC.pack(socket.AF_UNSPEC, ifindex, handle, parent, 0)
    body += attribute(TCA_KIND, KIND.encode() + b"\0")
    body += attribute(TCA_OPTIONS | 0x8000, attribute(TCA_PARMS, wanted.packed()))
    return Request(f"{KIND} at {ifindex}", RTM_NEWQDISC, CREATE | REPLACE, body)


def put(wanted: Parameters, device: str, *, parent: int, handle: int = 0) -> None:
    """Create the discipline on a device of this network namespace, and read its parameters back.

    Raises:
        RuntimeError: this lab has no such module, or the kernel has other parameters.
        NetlinkError: the kernel refused; the text names the device by its index.
    """
    modules.load(MODULE, "the queue adaptive-red-ns2")
    ask = request(wanted, socket.if_nametoindex(device), parent=parent, handle=handle)
    with netlink.open_here() as link:
        rtnetlink.apply(link, [ask])
    found = statistics(device)[COUNTERS.size :][: PARMS.size]
    if found != wanted.packed():
        raise RuntimeError(
            f"{device}: the kernel did not keep the parameters of {KIND}; it has {found.hex()}"
        )


def statistics(device: str) -> bytes:
    """Return struct red_ns2_xstats of a device of this network namespace."""
    index = socket.if_nametoindex(device)
    with netlink.open_here() as link:
        for found_index, kind, stats in netlink.qdiscs(link):
            if (found_index, kind) == (index, KIND):
                return stats[APP_STATS]
    raise RuntimeError(f"{device} has no queue {KIND}")


def counters(device: str) -> dict[str, int]:
    """Return the counters of struct red_ns2_xstats, with tc's names for the counters of red."""
    names = ("early", "pdrop", "other", "marked")
    return dict(zip(names, COUNTERS.unpack_from(statistics(device)), strict=True))
