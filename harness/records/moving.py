# SPDX-License-Identifier: GPL-2.0-only
"""What packets show of a moving path against its function, on the host.

Written from plan/path.py, with arrays of whole numbers, and from tcpdump's times alone: nothing of
bpf/path.h and of the tables for the kernel is in it. From the lab come the seeds of the losses, the
files' format (topology/), and of the cell queue's counters one: the cells of torn packets, which
no tcpdump shows.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from ipaddress import ip_address
from pathlib import Path as File
from typing import Any

import numpy as np
import numpy.typing as npt

from plan.atm import AAL5_OVERHEAD_BYTES, CELL_BITS, CELL_PAYLOAD_BYTES
from plan.layout import Layout
from plan.path import Path, Row, Way
from plan.plan import Plan
from plan.queue import DIRECTIONS
from topology.loss import seed_of
from topology.moving import passages

Ints = npt.NDArray[np.int64]
UBIT = 1_000_000  # in which work is counted
NS_PER_US = 1000
INTERVAL_NS = 100_000_000
# With the slack of an interval of cells, which grows with the pairs, it must carry so much more.
SLACKS = 10
# Edges are never at a change, all of which are at whole microseconds, nor just after one.
EDGE_NS = 333_777
PCAP_HEAD_BYTES = 24
SLL2_BYTES = 20
RECORD = np.dtype({
    "names": ["s", "ns", "captured", "bytes", "index", "ip_id", "addresses", "ports_sequence",
              "source_ip", "target_ip"],
    "formats": ["<u4", "<u4", "<u4", "<u4", ">u4", ">u2", "<u8", "<u8", ">u4", ">u4"],
    # Behind the record's head: the interface's index, and what names a packet: of the IP header
    # the identification and the addresses, then the ports and the sequence number.
    "offsets": [0, 4, 8, 12, 16 + 4, 16 + 24, 16 + 32, 16 + 40, 16 + 32, 16 + 36],
    "itemsize": 16 + passages.HEADER_BYTES,
})  # fmt: skip


FROM_NOWHERE = "a packet left the link that never came to the queue"
# Where a packet of a direction has the address of its client.
CLIENT_AT = {"down": "target", "up": "source"}
MIXERS = [
    np.uint64(n) for n in (0x9E37_79B9_7F4A_7C15, 0xBF58_476D_1CE4_E5B9, 0x94D0_49BB_1331_11EB)
]


class Function:
    """One direction's path: times [ns] are of the lab's clock; work is in millionths of a bit."""

    def __init__(self, way: Way, still: Row, origin_ns: int) -> None:
        rows = list(way.rows())
        self.origin_ns = origin_ns
        self.period_ns = way.period_us * NS_PER_US
        self.still_rate, self.still_delay_ns = still.rate_bit_per_s, still.delay_us * NS_PER_US
        self.times_ns = np.array([row.time_us * NS_PER_US for row in rows])
        self.rates = np.array([row.rate_bit_per_s for row in rows])
        self.delays_ns = np.array([row.delay_us * NS_PER_US for row in rows])
        self.losses = np.array([row.loss for row in rows])
        bits = np.array([row.bits for row in rows]) * UBIT
        carried = self.rates[:-1] * (np.diff(self.times_ns) // NS_PER_US)
        self.works = np.cumsum(bits) + np.concatenate([[0], np.cumsum(carried)])
        left_us = (self.period_ns - self.times_ns[-1]) // NS_PER_US
        self.period_work = int(self.works[-1] + self.rates[-1] * left_us)

    def _placed(self, times_ns: Ints) -> tuple[Ints, Ints, Ints]:
        """Of each time: its round, the time in it, and the row; row -1 is the still path."""
        since = times_ns - self.origin_ns
        rounds = np.where(since > 0, since // self.period_ns, 0) if self.period_ns else 0 * since
        since = since - rounds * self.period_ns
        return rounds, since, np.searchsorted(self.times_ns, since, "right") - 1

    def delay_ns(self, times_ns: Ints) -> Ints:
        _, _, row = self._placed(times_ns)
        return np.where(row < 0, self.still_delay_ns, self.delays_ns[row])

    def loss(self, times_ns: Ints) -> npt.NDArray[np.float64]:
        _, _, row = self._placed(times_ns)
        return np.where(row < 0, 0.0, self.losses[row])

    def work(self, times_ns: Ints) -> Ints:
        """What the link could have done since time 0; before it, less than 0."""
        rounds, since, row = self._placed(times_ns)
        gone = np.where(row < 0, since, since - self.times_ns[row])
        rate = np.where(row < 0, self.still_rate, self.rates[row])
        begun = np.where(row < 0, 0, self.works[row])
        passed = rate * (gone // NS_PER_US) + rate * (gone % NS_PER_US) // NS_PER_US
        return rounds * self.period_work + begun + passed

    def moment_ns(self, work: Ints) -> Ints:
        """The first time with so much work, rounded up to nanoseconds."""
        if self.period_ns:
            rounds = np.where(work > 0, (work - 1) // self.period_work, 0)
        else:
            rounds = 0 * work
        work = work - rounds * self.period_work
        after = np.searchsorted(self.works, work, "left")
        before = after - 1
        missing = work - np.where(before < 0, 0, self.works[before])
        rate = np.where(before < 0, self.still_rate, self.rates[before])
        begun = np.where(before < 0, 0, self.times_ns[before])
        some = np.maximum(rate, 1)
        needed = missing // some * NS_PER_US + -(-(missing % some * NS_PER_US) // some)
        ends = np.append(self.times_ns, np.iinfo(np.int64).max)[after]
        moment = np.where(rate > 0, np.minimum(begun + needed, ends), ends)
        return self.origin_ns + rounds * self.period_ns + moment


def packets(file: File, offset_ns: int) -> npt.NDArray[Any]:
    """The packets of a tcpdump, with `at_ns` of the lab's clock.

    Raises:
        ValueError: a record is not as long as it should be.
    """
    found = np.frombuffer(file.read_bytes()[PCAP_HEAD_BYTES:], RECORD)
    if len(found) and set(np.unique(found["captured"])) != {passages.HEADER_BYTES}:
        raise ValueError(f"{file.name}: a packet has no {passages.HEADER_BYTES} bytes")
    fields = ("at_ns", "ip_bytes", "index", "source_ip", "target_ip", "tag", "flow")
    unsigned = ("tag", "flow")
    made = np.empty(len(found), [(name, "u8" if name in unsigned else "i8") for name in fields])
    made["at_ns"] = found["s"].astype("i8") * 1_000_000_000 + found["ns"] - offset_ns
    made["ip_bytes"] = found["bytes"].astype("i8") - SLL2_BYTES
    for name in ("index", "source_ip", "target_ip"):
        made[name] = found[name]
    # Multiplied by odd numbers: different packets have different tags, but for one in 10^19 pairs.
    # Of UDP without an identification, only the length and the checksum tell packets apart.
    named = zip(("ip_id", "addresses", "ports_sequence"), MIXERS, strict=True)
    made["tag"] = sum(found[name].astype("u8") * mixer for name, mixer in named)
    ports = found["ports_sequence"].astype("u8") & np.uint64(0xFFFF_FFFF)
    made["flow"] = found["addresses"].astype("u8") * MIXERS[0] + ports * MIXERS[1]
    return made


def both(plan: Plan, raw: File, facts: Mapping[str, Any]) -> dict[str, Any]:
    """What both directions show, for lab.json; facts: lab.json as the lab has written it.

    Returns:
        origin_ns, and of each direction what delays() and served() return.
    """
    told = facts["passages"]
    seen = {
        place: packets(passages.file(raw, place), told["clock_offset_ns"])
        for place in passages.PLACES
    }
    origin_ns = facts["path"]["origin_ns"]
    found: dict[str, Any] = {"origin_ns": origin_ns}
    for way in DIRECTIONS:
        torn = torn_bits(plan, facts, way)
        found[way] = direction(plan, way, origin_ns, seen, told["indexes"], torn)
    return found


def torn_bits(plan: Plan, facts: Mapping[str, Any], way: str) -> int:
    """What packets used of the moving link that lost another cell in the cell queue."""
    if not plan.queue.at(way).watches_wire:
        return 0
    queue = facts["queue"][plan.topology.layout().moved.queue(way)]
    return int(queue["cells"]["wasted"]) * CELL_BITS


def direction(
    plan: Plan,
    way: str,
    origin_ns: int,
    seen: Mapping[str, npt.NDArray[Any]],
    indexes: Mapping[str, int],
    torn: int,
) -> dict[str, Any]:
    """What one direction shows."""
    path, network = plan.topology.path, plan.topology.layout()
    assert path is not None
    middle = network.moved.link
    still = Row(0, middle.rate_bit_per_s, middle.delay_ns // NS_PER_US, 0.0, 0)
    function = Function(path.way(way), still, origin_ns)
    switches, box = seen["switches"], seen["box"]
    hosts = network.servers() if way == "down" else network.clients()
    came = switches[np.isin(switches["index"], [host.switch_ifindex for host in hosts])]
    if network.named:  # a server sends over several links
        came = came[np.isin(came[f"{CLIENT_AT[way]}_ip"], of_clients(network))]
    sent = box[box["index"] == indexes[f"box {way}"]]
    arrived = switches[switches["index"] == indexes[f"switches {way}"]]
    return {
        **delays(function, path, sent, arrived, seed_of(plan.seed, way)),
        **served(
            function, path, network, came, sent,
            cells=plan.queue.at(way).watches_wire, torn_bits=torn,
        ),
    }


def of_clients(network: Layout) -> list[int]:
    """The clients' addresses of the pairs that cross the moving link."""
    crossing, clients = network.crossing(network.moved), network.clients()
    return [int(ip_address(clients[pair - 1].ip)) for pair in crossing]


def draws(seed: int, count: int) -> npt.NDArray[np.float64]:
    """Of each packet, a number from 0 to 1: SplitMix64's upper 32 bits."""
    with np.errstate(over="ignore"):
        z = np.uint64(seed) + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(
            0x9E37_79B9_7F4A_7C15
        )
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58_476D_1CE4_E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D0_49BB_1331_11EB)
    return ((z ^ (z >> np.uint64(31))) >> np.uint64(32)).astype(np.float64) / 2**32


def delays(
    function: Function,
    path: Path,
    sent: npt.NDArray[Any],
    arrived: npt.NDArray[Any],
    seed: int,
) -> dict[str, Any]:
    """The box: which packets it lost, and when the others came out.

    Returns:
        sent, arrived: packets before and after the box.
        wrong: packets that are not those that were to arrive, at their place in the order; where
            the numbers differ, at least by how many.
        delay_off_ns: the largest difference of a packet's arrival to the path's function.
    """
    at_ns = sent["at_ns"]
    stay = draws(seed, len(sent)) >= function.loss(at_ns)
    due = at_ns[stay] + function.delay_ns(at_ns[stay])
    tags = sent["tag"][stay]
    if path.reorder:
        order = np.argsort(due, kind="stable")
        due, tags = due[order], tags[order]
    elif len(due):
        due = np.maximum.accumulate(due)
    common = min(len(due), len(arrived))
    wrong = int(np.count_nonzero(tags[:common] != arrived["tag"][:common]))
    off = np.abs(arrived["at_ns"][:common] - due[:common])
    return {
        "sent": len(sent),
        "arrived": len(arrived),
        "wrong": wrong + abs(len(due) - len(arrived)),
        "delay_off_ns": int(off.max()) if common else None,
    }


def works_of(path: Path, ip_bytes: Ints) -> Ints:
    """What packets are on the link."""
    if path.overhead_bytes is None:
        cells = -(-(ip_bytes + AAL5_OVERHEAD_BYTES) // CELL_PAYLOAD_BYTES)
        return cells * (CELL_BITS * UBIT)
    return (ip_bytes + path.overhead_bytes) * (8 * UBIT)


def matched(came: npt.NDArray[Any], sent: npt.NDArray[Any]) -> Ints:
    """Of each packet that was sent, the place at which it came.

    Each queue sends the packets of one connection in their order. So where several packets that
    came have the same tag, and the queue has dropped some of them, the packet that was sent is the
    first of them behind the connection's packet that was sent before it.

    Raises:
        ValueError: a packet was sent that never came.
    """
    names, numbers = np.unique(np.concatenate([came["tag"], sent["tag"]]), return_inverse=True)
    of_came, of_sent = numbers[: len(came)], numbers[len(came) :]
    some_came, some_sent = (np.bincount(of, minlength=len(names)) for of in (of_came, of_sent))
    # Where all or none of the packets with a tag were sent, their order alone tells which.
    if ((some_came > 1) & (some_sent > 0) & (some_sent != some_came)).any():
        return _matched_in_order(came, sent)
    by_tag, wanted = np.argsort(of_came, kind="stable"), np.argsort(of_sent, kind="stable")
    ordered = of_sent[wanted]
    first = np.searchsorted(ordered, ordered, "left")
    at = np.searchsorted(of_came[by_tag], ordered, "left") + np.arange(len(ordered)) - first
    if len(at) and (at.max() >= len(came) or (of_came[by_tag[at]] != ordered).any()):
        raise ValueError(FROM_NOWHERE)
    found = np.empty(len(sent), np.int64)
    found[wanted] = by_tag[at]
    return found


def _matched_in_order(came: npt.NDArray[Any], sent: npt.NDArray[Any]) -> Ints:
    places: dict[int, list[int]] = {}
    for place, tag in enumerate(came["tag"].tolist()):
        places.setdefault(tag, []).append(place)
    last: dict[int, int] = {}
    found = []
    for tag, flow in zip(sent["tag"].tolist(), sent["flow"].tolist(), strict=True):
        of_tag = places.get(tag, [])
        after = bisect_right(of_tag, last.get(flow, -1))
        if after == len(of_tag):
            raise ValueError(FROM_NOWHERE)
        last[flow] = of_tag[after]
        found.append(of_tag[after])
    return np.array(found, np.int64)


def served(
    function: Function,
    path: Path,
    network: Layout,
    came: npt.NDArray[Any],
    sent: npt.NDArray[Any],
    *,
    cells: bool,
    torn_bits: int = 0,
) -> dict[str, Any]:
    """The server: when packets left the link, and how much did in each interval.

    Returns:
        departure_off_ns: the largest difference of a packet's departure to the path's function, by
            when packets came; None where cells of several packets are sent in turn.
        intervals, full: all, and those in which a packet waited or was sent all the time.
        over_bits: the most that left in an interval more than the path can carry; under_bits: the
            most that left less in a full one; None without one.
        slack_bits: how far an interval may be off, because packets are under way at its ends.
        sums: with a queue of cells, what by_stretch() returns.
    """
    if not len(sent):
        return {"departure_off_ns": None, "intervals": 0, "full": 0, "over_bits": 0,
                "under_bits": None, "slack_bits": 0}  # fmt: skip
    at = matched(came, sent)
    came_ns, sent_ns = came["at_ns"][at], sent["at_ns"]
    work = works_of(path, sent["ip_bytes"])
    off = None
    if not cells:
        begun = np.cumsum(work) - work
        done = np.maximum.accumulate(function.work(came_ns) - begun) + begun + work
        off = int(np.abs(function.moment_ns(done) - sent_ns).max())
    full_frame = 8 * network.framing.link_bytes(network.mtu_bytes)
    slack = full_frame * (network.pairs if cells else 1) + CELL_BITS
    unsent = np.delete(came["at_ns"], at) if cells else np.empty(0, np.int64)
    sums = {"sums": by_stretch(function, came_ns, sent_ns, work, torn_bits)} if cells else {}
    return {
        "departure_off_ns": off,
        **by_interval(function, came_ns, sent_ns, work, unsent, SLACKS * slack if cells else 0),
        "slack_bits": slack,
        **sums,
    }


def by_stretch(
    function: Function, came_ns: Ints, sent_ns: Ints, work: Ints, torn_bits: int
) -> dict[str, int]:
    """What left while packets waited without a break, against what the path carries in this time.

    A stretch begins when a packet comes to the empty link, and ends when the last packet has left.
    The slack of a stretch does not grow with its length, so a small error of the rate adds up.

    torn_bits: what may have been on the link beside these packets.

    Returns:
        stretches, longest_bits: all of them, and what the path carries in the largest.
        off_bits: the most that a stretch was off: too much left, or too little even if all that
            was torn was in this stretch.
    """
    came_ns = np.sort(came_ns)
    waiting = np.searchsorted(came_ns, sent_ns, "right") - np.arange(1, len(sent_ns) + 1)
    last = np.flatnonzero(waiting <= 0)
    first = np.concatenate([[0], last[:-1] + 1])
    works = np.concatenate([[0], np.cumsum(work)])
    done = works[last + 1] - works[first]
    carried = function.work(sent_ns[last]) - function.work(came_ns[first])
    more = (done - carried) // UBIT
    return {
        "stretches": len(last),
        "longest_bits": int(carried.max()) // UBIT,
        "off_bits": max(0, int(more.max()), int(-more.min()) - torn_bits),
    }


def interval_of(function: Function, begin_ns: int, end_ns: int, least_bits: int) -> int:
    """Return the length of intervals that carry so many bits on average: whole INTERVAL_NS."""
    begun, ended = function.work(np.array([begin_ns, end_ns])).tolist()
    carried, least = max(1, ended - begun), least_bits * UBIT
    wanted = -(-least * (end_ns - begin_ns) // (carried * INTERVAL_NS))
    return INTERVAL_NS * max(1, min(wanted, -(-(end_ns - begin_ns) // INTERVAL_NS)))


def by_interval(
    function: Function,
    came_ns: Ints,
    sent_ns: Ints,
    work: Ints,
    unsent_ns: Ints,
    least_bits: int,
) -> dict[str, Any]:
    """What left in each interval against what the path can carry in it.

    unsent_ns: when packets came that were lost in the queue and may have used the link: no interval
        counts as full until they are gone for certain.
    least_bits: what an interval of whole tenths of a second carries at least, on average.
    """
    interval_ns = interval_of(function, int(sent_ns[0]), int(sent_ns[-1]), least_bits)
    first, last = int(sent_ns[0] // interval_ns) - 1, int(sent_ns[-1] // interval_ns) + 1
    edges = np.arange(first, last + 1) * interval_ns + EDGE_NS
    carried = np.diff(function.work(edges))
    done = np.diff(np.concatenate([[0], np.cumsum(work)])[np.searchsorted(sent_ns, edges, "right")])
    # The moments at which nothing waits any more: as many have left as had come.
    waiting = np.searchsorted(np.sort(came_ns), sent_ns, "right") - np.arange(1, len(sent_ns) + 1)
    empty_ns = sent_ns[waiting <= 0]
    some_empty = np.diff(np.searchsorted(empty_ns, edges, "left")) > 0
    begun = np.searchsorted(np.sort(came_ns), edges[:-1], "left")
    left = np.searchsorted(sent_ns, edges[:-1], "right")
    full = ~some_empty & (begun > left)
    if len(unsent_ns):
        longest = int((sent_ns - came_ns).max())
        torn = np.searchsorted(unsent_ns, edges[1:], "right") - np.searchsorted(
            unsent_ns, edges[:-1] - longest, "left"
        )
        full &= torn == 0
    difference = (done - carried) // UBIT
    return {
        "intervals": len(carried),
        "full": int(full.sum()),
        "over_bits": max(0, int(difference.max())),
        "under_bits": max(0, int(-difference[full].min())) if full.any() else None,
    }
