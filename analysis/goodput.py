# SPDX-License-Identifier: GPL-2.0-only
"""Goodput of each pair over time: TCP payload that the client received, without headers and copies.

A capture tells it: the ACK (acknowledgement) number of a client counts the bytes that its TCP has
received in order, each byte once (RFC 9293, section 3.4). Without a capture, the answers of
requests.csv tell it less exactly: the bytes of an answer are spread evenly from its first to its
last byte.

throughput.csv does not tell it: it counts IP packets, with headers and repeated segments.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from analysis.records import Record, capture_start_ns
from analysis.tcp import ACK, FIN, SYN, WHOLE, Endpoint, Packet, packets

Values = NDArray[np.float64]
SECOND_NS = 1e9
SERVERS = 2
"""A server is 10.2.x.y, a client is 10.1.x.y."""
HALF = WHOLE // 2


@dataclass(frozen=True, kw_only=True)
class Goodput:
    """Goodput of the pairs of a trial.

    Attributes:
        edges_s: (n + 1,) the bounds of the intervals; the last is the end of the workload.
        bit_per_s: pair -> (n,) its goodput in each interval.
        source: "acks" or "answers", as in the head of this file.
    """

    edges_s: Values
    bit_per_s: Mapping[int, Values]
    source: str


def goodput(record: Record, step_s: float) -> Goodput | None:
    """The goodput in intervals of `step_s` [s]; None where the record has nothing that tells it.

    With down.pcap, a byte counts when its ACK arrives at the switch in front of the servers, one
    delay of the path after the client sent it. With up.pcap, it counts when its ACK leaves the
    queue towards the servers.
    """
    edges = edges_of(float(record.plan.workload.duration_s), step_s)
    if found := of_captures(record, edges):
        source = "acks"
    elif found := of_answers(record, edges):
        source = "answers"
    else:
        return None
    rates = {pair: found[pair] * 8 / np.diff(edges) for pair in sorted(found)}
    return Goodput(edges_s=edges, bit_per_s=rates, source=source)


def edges_of(duration_s: float, step_s: float) -> Values:
    """The bounds of the intervals; the last interval may be shorter."""
    steps = np.arange(0, duration_s, step_s)
    return np.append(steps[steps < duration_s - 1e-9], duration_s)


def of_captures(record: Record, edges: Values) -> dict[int, Values]:
    """Bytes of each pair between the edges [s], by the ACK numbers; empty without a capture.

    A pair's ACKs count on the last of its links towards the client. Where a connection has several
    paths, no link has all of its ACKs.
    """
    layout = record.plan.topology.layout()
    found: dict[int, Values] = {}
    for one in () if layout.several_paths else layout.middles():
        paths = [record.folder / f"{one.queue(way)}.pcap" for way in ("up", "down")]
        if path := next((path for path in paths if path.is_file()), None):
            of_link = of_capture(path, capture_start_ns(record), edges)
            found |= {pair: of for pair, of in of_link.items() if layout.route(pair)[-1] == one}
    return found


def of_capture(path: Path, begin_ns: int, edges: Values) -> dict[int, Values]:
    """Bytes that the clients' ACKs of a file add between the edges.

    begin_ns: the trial's start on the clock of the file.
    """
    connections: dict[frozenset[Endpoint], Connection] = {}
    added: dict[int, list[tuple[float, int]]] = {}
    for packet in packets(path):
        ends = frozenset((packet.source, packet.target))
        connection = connections.setdefault(ends, Connection())
        if packet.source.host[1] == SERVERS:
            connection.sent(packet)
        elif new := connection.acked(packet):
            at_s = (packet.time_ns - begin_ns) / SECOND_NS
            added.setdefault(packet.source.pair, []).append((at_s, new))
    found = {}
    for pair, some in added.items():
        times, sizes = zip(*some, strict=True)
        found[pair] = np.histogram(times, edges, weights=sizes)[0].astype(float)
    return found


class Connection:
    """What a client has acknowledged of one connection.

    SYN and FIN take a sequence number each, and are no payload.
    """

    def __init__(self) -> None:
        self.last: int | None = None
        self.end: int | None = None

    def sent(self, packet: Packet) -> None:
        """A packet of the server: the first byte is behind its SYN, the last before its FIN."""
        if packet.flags & SYN:
            self.last, self.end = (packet.sequence + 1) % WHOLE, None
        if packet.flags & FIN:
            self.end = (packet.sequence + packet.payload_bytes) % WHOLE

    def acked(self, packet: Packet) -> int:
        """The bytes that an ACK adds; 0 for one that was overtaken."""
        if not packet.flags & ACK:
            return 0
        number = packet.acknowledged
        if self.end is not None and 0 < (number - self.end) % WHOLE < HALF:
            number = self.end
        if self.last is None:  # its SYN is not in the file
            self.last = number
        new = (number - self.last) % WHOLE
        if new >= HALF:
            return 0
        self.last = number
        return new


def of_answers(record: Record, edges: Values) -> dict[int, Values]:
    """Bytes of the answers that were complete by the end, between the edges [s]."""
    found: dict[int, Values] = {}
    for row in record.series("requests") or ():
        begin, end, size = row["first_byte_ns"], row["last_byte_ns"], row["size_bytes"]
        if isinstance(begin, float) and isinstance(end, float) and isinstance(size, float):
            took_s = max((end - begin) / SECOND_NS, 1e-6)
            share = np.clip((edges - begin / SECOND_NS) / took_s, 0, 1)
            pair = int(float(row["pair"] or 0))
            found[pair] = found.get(pair, np.zeros(len(edges) - 1)) + size * np.diff(share)
    return found
