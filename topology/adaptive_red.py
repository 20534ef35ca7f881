# SPDX-License-Identifier: GPL-2.0-only
"""Adaptive RED on a device: sets up the kernel's qdisc red with its adaptive mode.

Floyd, Gummadi, Shenker: "Adaptive RED: An Algorithm for Increasing the Robustness of RED's Active
Queue Management", 2001. The kernel has this rule (include/net/red.h, red_adaptative_algo). Every
half second, it multiplies max_P by 0.9 if the average is below the target, or adds
min(1 %, max_P / 4) if it is above. `tc ... red adaptive` does not start the rule (see
docs/adaptive-red.md). So this module sends its own netlink message, which has the adaptive flag in
the place where the kernel looks for it.
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
    """An Adaptive RED queue. Sizes are bytes of Ethernet frames, as the kernel counts them.

    Attributes:
        rate_bit_per_s: the rate of the link behind the queue.
        packet_bytes: the mean packet size; it determines how fast the average falls in idle times.
        limit_bytes: the size of the queue.
        min_bytes, max_bytes: the thresholds of the average.
        weight_log: the weight of the average is 2^-weight_log.
        probability: the first value of max_P.
        ecn: mark packets that allow ECN.
        drop_above_max: with ecn: drop if the average is above max_bytes; else mark there too.
        gentle: above max_bytes, do not drop all packets: the probability rises from max_P to 1 at
            twice max_bytes. Patch 0010 of the lab's kernel adds gentle.

    Raises:
        ValueError: a value is out of range; the text names the value and the allowed range.
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
        """The flags of struct tc_red_qopt or of TCA_RED_FLAGS."""
        chosen = {
            FLAG_ECN: self.ecn,
            FLAG_HARDDROP: self.drop_above_max,
            FLAG_GENTLE: self.gentle,
        }
        return FLAG_ADAPTIVE | sum(flag for flag, wanted in chosen.items() if wanted)


def automatic(*, rate_bit_per_s: int, packet_bytes: int, limit_bytes: int) -> AdaptiveRed:
    """Return the queue with the thresholds and the weight of the paper's section 5 for a link.

    For C packets per second, min is the larger of 5 packets and C x 5 ms / 2. max is three times
    min. The weight is 1 - exp(-1/C), rounded to a power of two.
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
    """Return log2 of a cell [us] and the table of shifts. Both lower the average in idle times.

    After t without a packet, the average is (1 - w)^m of its old value, where w = 2^-weight_log and
    the link could have sent m packets in t. The kernel multiplies the old value by 1 - t / cell in
    the first cell, and by 2^-table[n] in cell n. So a cell is the time of 1/w packets. (tc counts
    its table in ticks of 64 ns, but the kernel counts microseconds.)
    """
    packet_us = queue.packet_bytes * 8e6 / queue.rate_bit_per_s
    log = max(round(math.log2(packet_us) + queue.weight_log), 0)
    shift_per_cell = -math.log2(1 - 2.0**-queue.weight_log) * 2**log / packet_us
    middles = (cell + 0.5 for cell in range(1, STAB_CELLS))
    return log, bytes([0, *(min(round(at * shift_per_cell), STAB_MAX) for at in middles)])


def options(queue: AdaptiveRed) -> bytes:
    """Return the attributes of the qdisc red.

    Without gentle, tc_red_qopt has the flags: only there does a kernel without patch 0016 find the
    flag that starts the adaptation. With gentle, TCA_RED_FLAGS has them, because tc_red_qopt has no
    bit for gentle. A kernel without patch 0010 refuses gentle. The kernel refuses flags in both.
    """
    cell_log, table = idle_table(queue)
    # The kernel shows Plog but uses the given max_P: max_P = (max - min) / 2^Plog.
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
    """Return the request that creates the queue on a device, or replaces the qdisc that is there.

    `parent` and `handle` are MAJOR:MINOR as in tc, 16 bits each: 0x10001 is 1:1.
    """
    body = QDISC.pack(socket.AF_UNSPEC, ifindex, handle, parent, 0)
    body += attribute(TCA_KIND, b"red\0")
    body += attribute(TCA_OPTIONS | NLA_F_NESTED, options(queue))
    return Request(f"Adaptive RED at {ifindex}", RTM_NEWQDISC, CREATE | REPLACE, body)


def put(queue: AdaptiveRed, device: str, *, parent: int = ROOT, handle: int = 0) -> None:
    """Create the queue on a device of this network namespace.

    Raises:
        NetlinkError: the kernel refused; the text names the device by its index.
    """
    wanted = request(queue, socket.if_nametoindex(device), parent=parent, handle=handle)
    with netlink.open_here() as link:
        rtnetlink.apply(link, [wanted])


def flags_on(device: str) -> int | None:
    """Return the flags that the kernel applies on a device; None: the device has no red.

    In tc_red_qopt, a kernel also shows flags that it does not know. This function leaves them out.
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
