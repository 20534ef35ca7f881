# SPDX-License-Identifier: GPL-2.0-only
"""The TCP segments of a captured port of a trial, connection by connection."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path

from analysis.errors import RecordError
from analysis.pcap import frames, pair_of
from analysis.records import Trial, capture_start_ns

ETHERNET_BYTES = 14
IPV4 = b"\x08\x00"
TCP = 6
FLAGS = "FSRPAUEC"

Endpoint = tuple[str, int]


@dataclass(frozen=True, kw_only=True)
class Segment:
    """A segment as it passed a middle link.

    Sequence numbers count from the first that was seen of their direction, so that two runs can
    be compared; `window` is the header's field, not scaled. time_ns: since the trial's start.
    """

    time_ns: int
    source: str
    sequence: int
    payload_bytes: int
    acknowledged: int | None
    flags: str
    window: int

    def __str__(self) -> str:
        acknowledged = "" if self.acknowledged is None else f", ack {self.acknowledged}"
        return (
            f"from {self.source}: {self.flags}, bytes {self.sequence} to "
            f"{self.sequence + self.payload_bytes}{acknowledged}, window {self.window}"
        )


@dataclass
class Connection:
    """Segments of both directions in their order; `pair` as in the tables of a record."""

    pair: int
    segments: list[Segment] = field(default_factory=list)
    _first: dict[Endpoint, int] = field(default_factory=dict)

    def add(self, time_ns: int, source: Endpoint, target: Endpoint, tcp: bytes) -> None:
        """Append the segment of a TCP header whose payload length stands before it."""
        (length,) = struct.unpack_from(">I", tcp)
        sequence, acknowledged, offset_flags, window = struct.unpack_from(">IIHH", tcp, 8)
        first = self._first.setdefault(source, sequence)
        base = self._first.get(target)
        is_ack = bool(offset_flags & 0x10)
        self.segments.append(
            Segment(
                time_ns=time_ns,
                source=source[0],
                sequence=(sequence - first) % 2**32,
                payload_bytes=length - 4 * (offset_flags >> 12),
                acknowledged=(acknowledged - base) % 2**32 if is_ack and base is not None else None,
                flags="".join(x for bit, x in enumerate(FLAGS) if offset_flags >> bit & 1),
                window=window,
            )
        )


def connections(trial: Trial, port: str = "down") -> list[Connection]:
    """A trial's connections, in the order of the pairs, and of a pair in that of their begin.

    port: the name of a downward queue. Raises RecordError where the trial has no capture of this
    port, or a damaged one.
    """
    path = trial.folder / f"{port}.pcap"
    if not path.exists():
        raise RecordError(f"{path} does not exist; run the trial with --pcap down")
    began_ns = capture_start_ns(trial)
    found: dict[frozenset[Endpoint], Connection] = {}
    for time_ns, source, target, tcp in packets(path):
        key = frozenset((source, target))
        # A port that is used again, with a first segment of its own, begins another connection.
        begins = tcp[4 + 13] & 0x12 == 0x02
        if key not in found or (begins and found[key].segments[-1].flags[:1] in "FR"):
            found[key] = Connection(pair=pair_of(ip_address(source[0]).packed))
        found[key].add(time_ns - began_ns, source, target, tcp)
    return sorted(found.values(), key=lambda connection: connection.pair)


def packets(path: Path) -> Iterator[tuple[int, Endpoint, Endpoint, bytes]]:
    """Time [ns], ends, and of each TCP packet its length in bytes (4 bytes) and its header."""
    for time_ns, _, packet in frames(path):
        ip = packet[ETHERNET_BYTES:]
        if packet[12:14] != IPV4 or ip[9] != TCP:
            continue
        header_bytes = 4 * (ip[0] & 0x0F)
        length = int.from_bytes(ip[2:4]) - header_bytes
        source_port, target_port = struct.unpack_from(">HH", ip, header_bytes)
        source, target = (".".join(map(str, ip[at : at + 4])) for at in (12, 16))
        tcp = struct.pack(">I", length) + ip[header_bytes:]
        yield time_ns, (source, source_port), (target, target_port), tcp
