# SPDX-License-Identifier: GPL-2.0-only
"""The kernel's DualPI2, the coupled dual queue of L4S (RFC 9332; Linux 6.17 and newer).

The L queue is for scalable senders, the C queue for all others. A PI controller computes p from the
longer of both queues' delays. The C queue drops or marks with p^2, and the L queue marks with k p.
Each packet that waits in the L queue for longer than a threshold is marked, too. A packet that
allows ECN is marked also in the C queue. Only if k p is above 1 does the queue drop such packets.
The tc of the lab is older than this queue, so the parameters and the counters go over netlink.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from plan.queue import Counters, Port
from plan.schema import Within
from topology import moving, netlink, rtnetlink
from topology.adaptive_red import RTM_NEWQDISC, TCA_KIND, TCA_OPTIONS
from topology.qdisc import APP_STATS, CHILD_HANDLE, CHILD_PARENT, QdiscQueue
from topology.rtnetlink import CREATE, QDISC, REPLACE, Request, attribute

KIND = "dualpi2"
MOST_US = 4_000_000  # the kernel keeps times in 32 bits of nanoseconds
HZ_UNITS = 256  # alpha and beta go to the kernel in 1/256 Hz
MOST_PROBABILITY = 2**32 - 1
ECN_MASKS = {"ect1": 1, "any-ect": 3}
# struct tc_dualpi2_xstats of linux/pkt_sched.h. Delays are microseconds.
XSTATS = struct.Struct("=8Ii3I")
XSTATS_NAMES = """
prob delay_c delay_l packets_in_c packets_in_l maxq marked step_marks credit memory_used
max_memory_used memory_limit
""".split()
# linux/gen_stats.h: struct gnet_stats_basic and gnet_stats_queue
BASIC_STATS, BASIC, QUEUE = 1, struct.Struct("=QI"), struct.Struct("=5I")
U32, U8 = struct.Struct("=I"), struct.Struct("=B")
# TCA_DUALPI2_*
LIMIT, MEMORY, TARGET, TUPDATE, ALPHA, BETA, STEP_PACKETS, STEP_US, STEP_FROM = range(1, 10)
COUPLING, DROP_OVERLOAD, DROP_EARLY, C_PROTECTION, ECN_MASK, SPLIT_GSO = range(10, 16)


@dataclass(frozen=True, kw_only=True)
class Queue(QdiscQueue):
    # The defaults are the kernel's.
    limit_packets: Annotated[
        int,
        Within(1, 1_000_000),
        (
            "DualPI2 has two queues: the L queue (low latency) and the C queue (classic). This key"
            " is the size of the two queues together, in packets."
        ),
    ] = 10_000
    memory_bytes: Annotated[
        int | None,
        Within(65_536, 4_000_000_000),
        "The memory that the waiting packets of both queues may use, as the kernel counts memory."
        " If you leave the key out, the kernel computes it from `queue.limit_packets`.",
    ] = None
    target_us: Annotated[
        int,
        Within(1, MOST_US),
        "A PI controller (proportional-integral) computes the probability of drops and marks."
        " It looks at the queue with the longer delay, and keeps this delay near the value of this"
        " key.",
    ] = 15_000
    tupdate_us: Annotated[
        int,
        Within(1_000, MOST_US),
        "The time after which the queue computes its probability again.",
    ] = 16_000
    alpha_hz: Annotated[
        float,
        Within(0.004, 100_000),
        "The integral gain of the PI controller, in Hz. The kernel rounds it to a multiple of"
        " 1/256 Hz.",
    ] = 0.16
    beta_hz: Annotated[
        float,
        Within(0.004, 100_000),
        "The proportional gain of the PI controller, in Hz.",
    ] = 3.2
    coupling: Annotated[
        int,
        Within(1, 255),
        "DualPI2 has two queues: the L queue (low latency) and the C queue (classic). This key is"
        " the coupling factor k: the L queue's marking probability is k times the square root of"
        " the C queue's probability (RFC 9332).",
    ] = 2
    step_us: Annotated[
        int,
        Within(0, MOST_US),
        "The step threshold: the L queue marks each packet that waited for longer than this time.",
    ] = 1_000
    step_packets: Annotated[
        int | None,
        Within(1, 1_000_000),
        "The step threshold as a number of packets in the L queue. With this key, `queue.step_us`"
        " has no effect.",
    ] = None
    step_from_packets: Annotated[
        int,
        Within(0, 1_000_000),
        "The L queue uses the step threshold only for a packet that finds at least this number of"
        " packets in the L queue.",
    ] = 0
    classic_share_percent: Annotated[
        int,
        Within(0, 100),
        "The share of the link that the C queue gets if both queues have packets. It protects the"
        " C queue from an L queue that never empties (RFC 9332).",
    ] = 10
    l_queue: Annotated[
        Literal["ect1", "any-ect"],
        "The packets that go to the L queue. `ect1`: all packets with ECT(1) or CE (values of the"
        " field of ECN) in their IP header, as RFC 9331 says. `any-ect`: all packets that allow"
        " ECN. The sender `dctcp` sets ECT(0). With `ect1`, its packets go to the C queue. With"
        " `any-ect`, they go to the L queue. With `any-ect`, packets of all other senders with ECN"
        " go to the L queue, too.",
    ] = "ect1"
    overload: Annotated[
        Literal["drop", "overflow"],
        "What the queue does if the computed marking probability of the L queue would be above 1."
        " `drop`: it drops packets of both queues. `overflow`: packets of the L queue are marked,"
        " and dropped only if the two queues together are full.",
    ] = "drop"
    drop_at: Annotated[
        Literal["dequeue", "enqueue"],
        "The moment at which the queue drops or marks by probability.",
    ] = "dequeue"

    kind: ClassVar[str] = KIND
    marks_at: ClassVar[tuple[int, ...]] = (24,)  # ecn_mark of struct tc_dualpi2_xstats
    more_at: ClassVar[Mapping[str, tuple[int, ...]]] = {
        "c_delay_us": (4,),
        "l_delay_us": (8,),
        "c_packets": (12,),
        "l_packets": (16,),
    }
    since: ClassVar[Mapping[str, tuple[int, int]]] = {"queue dualpi2": (6, 17)}

    def discipline(self) -> str:
        raise NotImplementedError("tc cannot set up this queue; add() does")

    def add(self, port: Port) -> None:
        with netlink.open_here() as link:
            rtnetlink.apply(link, [self.request(socket.if_nametoindex(port.device))])
        found, wanted = options_on(port.device), self.kept()
        wrong = [name for name, value in wanted.items() if found.get(name) != value]
        if wrong:
            raise RuntimeError(
                f"{port.device}: the kernel did not keep the attributes {wrong} of {KIND}: it has"
                f" {found}, but {wanted} was set"
            )

    def request(self, ifindex: int) -> Request:
        """Return the request that creates the discipline on a device or replaces the old one."""
        attributes = b"".join(
            attribute(name, packed(name, value)) for name, value in self.attributes().items()
        )
        body = QDISC.pack(socket.AF_UNSPEC, ifindex, CHILD_HANDLE, CHILD_PARENT, 0)
        body += attribute(TCA_KIND, KIND.encode() + b"\0")
        body += attribute(TCA_OPTIONS | 0x8000, attributes)
        return Request(f"{KIND} at {ifindex}", RTM_NEWQDISC, CREATE | REPLACE, body)

    def attributes(self) -> dict[int, int]:
        """Return the attributes of the discipline in the kernel's units."""
        steps = (STEP_US, self.step_us)
        if self.step_packets is not None:
            steps = (STEP_PACKETS, self.step_packets)
        found = {
            LIMIT: self.limit_packets,
            TARGET: self.target_us,
            TUPDATE: self.tupdate_us,
            ALPHA: round(self.alpha_hz * HZ_UNITS),
            BETA: round(self.beta_hz * HZ_UNITS),
            steps[0]: steps[1],
            STEP_FROM: self.step_from_packets,
            COUPLING: self.coupling,
            DROP_OVERLOAD: int(self.overload == "drop"),
            DROP_EARLY: int(self.drop_at == "enqueue"),
            C_PROTECTION: self.classic_share_percent,
            ECN_MASK: ECN_MASKS[self.l_queue],
            SPLIT_GSO: 1,
        }
        return found if self.memory_bytes is None else {**found, MEMORY: self.memory_bytes}

    def kept(self) -> dict[int, int]:
        """Return the attributes as the kernel must show them: alpha and beta lose a little."""
        found = self.attributes()
        return {**found, ALPHA: shown_gain(found[ALPHA]), BETA: shown_gain(found[BETA])}

    def read(self, port: Port) -> dict[str, Any]:
        """Return the counters of every queue, with tc's names, and of struct tc_dualpi2_xstats."""
        found = statistics(port.device)
        above = found[moving.KIND if port.schedule else "tbf"]
        of_queue = found[KIND]
        return {
            "kind": KIND,
            **counted(of_queue),
            "sent": counted(above)["packets"],
            **dict(zip(XSTATS_NAMES, XSTATS.unpack_from(of_queue[APP_STATS]), strict=True)),
        }

    @staticmethod
    def figures(counters: Counters, begin: Counters | None) -> dict[str, float | None]:
        """Return the shares of every queue, and of this queue's packets those in the L queue.

        `step_marked_share` has the packets of the L queue that the step threshold marked.
        """
        first = begin or {}
        names = ("packets_in_c", "packets_in_l", "step_marks")
        classic, low, steps = (counters.get(k, 0) - first.get(k, 0) for k in names)
        return {
            **QdiscQueue.figures(counters, begin),
            "l_queue_share": low / (low + classic) if low + classic else None,
            "step_marked_share": steps / low if low else None,
        }


Settings = Queue


def shown_gain(given: int) -> int:
    """Return alpha or beta [Hz/256] as the kernel shows it; it keeps steps of 64 ns and rounds."""
    held = (given * MOST_PROBABILITY >> 2) // 10**9
    return (held * 10**9 << 2) // MOST_PROBABILITY


def packed(name: int, value: int) -> bytes:
    """Return an attribute's value as the kernel expects it."""
    return (U8 if name >= COUPLING else U32).pack(value)


def options_on(device: str) -> dict[int, int]:
    """Return the attributes that the kernel shows for the discipline on a device."""
    wanted = socket.if_nametoindex(device), KIND.encode() + b"\0"
    everything = netlink.TCMSG.pack(socket.AF_UNSPEC, 0, 0, 0, 0)
    with netlink.open_here() as link:
        for message in netlink.dump(link, netlink.RTM_GETQDISC, everything):
            _, index, *_ = netlink.TCMSG.unpack_from(message)
            found = dict(netlink.attributes(message, netlink.TCMSG.size))
            if (index, found[TCA_KIND]) == wanted:
                return {
                    name: int((U8 if name >= COUPLING else U32).unpack_from(value)[0])
                    for name, value in netlink.attributes(found[TCA_OPTIONS], 0)
                }
    raise RuntimeError(f"{device} has no queue {KIND}")


def statistics(device: str) -> dict[str, Mapping[int, bytes]]:
    """Return the statistics of the disciplines on a device of this network namespace, by kind."""
    index = socket.if_nametoindex(device)
    with netlink.open_here() as link:
        return {kind: stats for found, kind, stats in netlink.qdiscs(link) if found == index}


def counted(stats: Mapping[int, bytes]) -> dict[str, int]:
    """Return the counters that every discipline has, with tc's names."""
    total_bytes, packets = BASIC.unpack_from(stats[BASIC_STATS])
    names = ("qlen", "backlog", "drops", "requeues", "overlimits")
    queue = dict(zip(names, QUEUE.unpack_from(stats[netlink.QUEUE_STATS]), strict=True))
    return {"bytes": total_bytes, "packets": packets, **queue}
