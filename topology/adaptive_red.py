# SPDX-License-Identifier: GPL-2.0-only
"""Adaptive RED on a device: the kernel's red qdisc, told so that it adapts.

Floyd, Gummadi, Shenker: "Adaptive RED: An Algorithm for Increasing the Robustness of RED's Active
Queue Management", 2001. The kernel has the rule (include/net/red.h, red_adaptative_algo: each half
second max_P x 0.9 below the target, + min(1 %, max_P / 4) above it), but `tc ... red adaptive` does
not start it: docs/adaptive-red.md. So the queue is set by a netlink message of our own, with the
flags where the kernel looks for this one.
"""

from __future__ import annotations

import math
import socket
import struct
from dataclasses import dataclass

from plan.schema import check_range
from topology import netlink, rtnetlink
from topology.rtnetlink import CREATE, QDISC, REPLACE, Request, attribute

RTM_NEWQDISC = 36
TCA_KIND, TCA_OPTIONS, NLA_F_NESTED = 1, 2, 0x8000
TCA_RED_PARMS, TCA_RED_STAB, TCA_RED_MAX_P, TCA_RED_FLAGS = 1, 2, 3, 4
FLAG_ECN, FLAG_HARDDROP, FLAG_ADAPTIVE, FLAG_GENTLE = 1, 2, 4, 16
ALL_FLAGS = FLAG_ECN | FLAG_HARDDROP | FLAG_ADAPTIVE | FLAG_GENTLE
STAB_CELLS, STAB_MAX = 256, 31
ROOT = 0xFFFFFFFF


@dataclass(frozen=True, kw_only=True)
class AdaptiveRed:
    """An Adaptive RED queue; sizes are bytes of Ethernet frames, as the kernel counts them.

    Attributes:
        rate_bit_per_s: of the link it feeds.
        packet_bytes: of a mean packet; sets how fast the average falls in idle times.
        limit_bytes: of the queue itself.
        min_bytes, max_bytes: thresholds of the average.
        weight_log: the average's weight is 2^-weight_log.
        probability: max_P to begin with.
        ecn: mark those that can be marked.
        drop_above_max: with ecn: drop where the average is above max_bytes, else mark there too.
        gentle: above max_bytes not everything, but by a probability that rises from max_P to 1 at
            twice max_bytes; the lab's kernel can, by its patch 0010.

    Raises:
        ValueError: a value is out of range; names it and what is allowed.
    """

    rate_bit_per_s: int
    packet_bytes: int
    limit_bytes: int
    min_bytes: int
    max_bytes: int
    weight_log: int
    probability: float = 0.1
    ecn: bool = False
    drop_above_max: bool = False
    gentle: bool = False

    def __post_init__(self) -> None:
        check_range("rate_bit_per_s", self.rate_bit_per_s, 1_000, 100_000_000_000)
        check_range("packet_bytes", self.packet_bytes, 40, 65_535)
        check_range("weight_log", self.weight_log, 1, 31 - self.max_bytes.bit_length())
        check_range("min_bytes", self.min_bytes, 1, self.max_bytes - 1)
        check_range("max_bytes", self.max_bytes, self.min_bytes + 1, self.limit_bytes)
        check_range("limit_bytes", self.limit_bytes, self.packet_bytes, 1 << 30)
        check_range("probability", self.probability, 0.01, 0.5)

    @property
    def flags(self) -> int:
        """The kernel's flags."""
        chosen = {
            FLAG_ECN: self.ecn,
            FLAG_HARDDROP: self.drop_above_max,
            FLAG_GENTLE: self.gentle,
        }
        return FLAG_ADAPTIVE | sum(flag for flag, wanted in chosen.items() if wanted)


def automatic(*, rate_bit_per_s: int, packet_bytes: int, limit_bytes: int) -> AdaptiveRed:
    """Return the queue with the thresholds and weight of the paper's section 5 for this link.

    C packets a second: min the larger of 5 packets and C x 5 ms / 2, max three times that, weight
    1 - exp(-1/C), to the next power of two.
    """
    packets_per_s = rate_bit_per_s / 8 / packet_bytes
    least = round(max(5.0, packets_per_s * 0.005 / 2) * packet_bytes)
    return AdaptiveRed(
        rate_bit_per_s=rate_bit_per_s,
        packet_bytes=packet_bytes,
        limit_bytes=limit_bytes,
        min_bytes=least,
        max_bytes=3 * least,
        weight_log=round(-math.log2(-math.expm1(-1 / packets_per_s))),
    )


def idle_table(queue: AdaptiveRed) -> tuple[int, bytes]:
    """Return the logarithm of a cell [us] and the table of shifts: how the average falls when idle.

    After t without a packet the average is (1 - w)^m of what it was, w = 2^-weight_log and m the
    packets that the link could have sent. The kernel takes 1 - t / cell of it in the first cell,
    and 2^-table[n] in cell n; so a cell is the time of 1/w packets. (tc counts its table in ticks
    of 64 ns, the kernel in microseconds.)
    """
    packet_us = queue.packet_bytes * 8e6 / queue.rate_bit_per_s
    log = max(round(math.log2(packet_us) + queue.weight_log), 0)
    shift_per_cell = -math.log2(1 - 2.0**-queue.weight_log) * 2**log / packet_us
    middles = (cell + 0.5 for cell in range(1, STAB_CELLS))
    return log, bytes([0, *(min(round(at * shift_per_cell), STAB_MAX) for at in middles)])


def options(queue: AdaptiveRed) -> bytes:
    """Return the attributes of the red qdisc.

    The flags are in tc_red_qopt, by which a kernel without patch 0016 starts to adapt, and both
    places at once are refused. Only TCA_RED_FLAGS has a place for gentle, which a kernel without
    patch 0010 refuses.
    """
    cell_log, table = idle_table(queue)
    # Unused where max_P is given, but shown: max_P = (max - min) / 2^Plog.
    p_log = round(math.log2((queue.max_bytes - queue.min_bytes) / queue.probability))
    sizes = (queue.limit_bytes, queue.min_bytes, queue.max_bytes)
    logs = (queue.weight_log, p_log, cell_log, 0 if queue.gentle else queue.flags)
    flags = struct.pack("=II", queue.flags, ALL_FLAGS)
    return b"".join((
        attribute(TCA_RED_PARMS, struct.pack("=III4B", *sizes, *logs)),
        attribute(TCA_RED_STAB, table),
        attribute(TCA_RED_MAX_P, struct.pack("=I", int(queue.probability * 2**32))),
        attribute(TCA_RED_FLAGS, flags) if queue.gentle else b"",
    ))  # fmt: skip


def request(queue: AdaptiveRed, ifindex: int, *, parent: int = ROOT, handle: int = 0) -> Request:
    """Return what puts the queue on a device, for what is there now if there is one.

    `parent` and `handle` are as in tc's MAJOR:MINOR, 16 bits each: 0x10001 is 1:1.
    """
    body = QDISC.pack(socket.AF_UNSPEC, ifindex, handle, parent, 0)
    body += attribute(TCA_KIND, b"red\0")
    body += attribute(TCA_OPTIONS | NLA_F_NESTED, options(queue))
    return Request(f"Adaptive RED at {ifindex}", RTM_NEWQDISC, CREATE | REPLACE, body)


def put(queue: AdaptiveRed, device: str, *, parent: int = ROOT, handle: int = 0) -> None:
    """Put the queue on a device of this network namespace.

    Raises:
        NetlinkError: the kernel refused; it names the device by its index.
    """
    wanted = request(queue, socket.if_nametoindex(device), parent=parent, handle=handle)
    with netlink.open_here() as link:
        rtnetlink.apply(link, [wanted])


def flags_on(device: str) -> int | None:
    """Return the flags that the kernel follows on a device; None: it has no red.

    A kernel shows a flag that it does not know in tc_red_qopt, but not here.
    """
    red = socket.if_nametoindex(device), b"red\0"
    everything = netlink.TCMSG.pack(socket.AF_UNSPEC, 0, 0, 0, 0)
    with netlink.open_here() as link:
        for message in netlink.dump(link, netlink.RTM_GETQDISC, everything):
            _, index, *_ = netlink.TCMSG.unpack_from(message)
            found = dict(netlink.attributes(message, netlink.TCMSG.size))
            if (index, found[TCA_KIND]) == red:
                of_red = dict(netlink.attributes(found[TCA_OPTIONS], 0))
                return int(struct.unpack_from("=I", of_red[TCA_RED_FLAGS])[0])
    return None
