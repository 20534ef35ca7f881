# SPDX-License-Identifier: GPL-2.0-only
"""The TCP segments of a captured port of a trial, connection by connection."""

from dataclasses import dataclass, field

from analysis.errors import RecordError
from analysis.records import Trial, capture_start_ns
from analysis.tcp import ACK, SYN, WHOLE, Endpoint, Packet, packets

FLAGS = "FSRPAUEC"


@dataclass(frozen=True, kw_only=True)
class Segment:
    """A segment as it passed a middle link.

    Sequence numbers count from the first that was seen of their direction, so that two runs can
    be compared; `window` is the header's field, not scaled. time_ns: since the trial's start.
    port, wire_sequence: the source's, as in the header; two runs draw different ones.
    """

    time_ns: int
    source: str
    sequence: int
    payload_bytes: int
    acknowledged: int | None
    flags: str
    window: int
    port: int = field(compare=False)
    wire_sequence: int = field(compare=False)

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

    def add(self, packet: Packet, began_ns: int) -> None:
        """Append a packet of either direction; began_ns: the trial's start in the file."""
        first = self._first.setdefault(packet.source, packet.sequence)
        base = self._first.get(packet.target)
        known = base is not None and packet.flags & ACK
        self.segments.append(
            Segment(
                time_ns=packet.time_ns - began_ns,
                source=packet.source.address,
                sequence=(packet.sequence - first) % WHOLE,
                payload_bytes=packet.payload_bytes,
                acknowledged=(packet.acknowledged - (base or 0)) % WHOLE if known else None,
                flags="".join(x for bit, x in enumerate(FLAGS) if packet.flags >> bit & 1),
                window=packet.window,
                port=packet.source.port,
                wire_sequence=packet.sequence,
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
    for packet in packets(path):
        ends = frozenset((packet.source, packet.target))
        # A port that is used again, with a first segment of its own, begins another connection.
        begins = packet.flags & (SYN | ACK) == SYN
        if ends not in found or (begins and found[ends].segments[-1].flags[:1] in "FR"):
            found[ends] = Connection(pair=packet.source.pair)
        found[ends].add(packet, began_ns)
    return sorted(found.values(), key=lambda connection: connection.pair)
