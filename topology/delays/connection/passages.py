# SPDX-License-Identifier: GPL-2.0-only
"""How long each connection's first packet and its answer were in the box: the check of round trips.

tcpdump notes SYNs and SYN/ACKs as they come to the devices that give them their delay, and as they
leave behind its queue: nothing of program.py and of its table is in these times. Between the two a
packet waits for nothing but its connection's half of a round trip, whatever the links' queues hold.

1. in the box's namespace: start `argv()` of each of POINTS; each says `READY` in a line
2. the trial
3. after HANDED_OVER_S SIGTERM; `complaint()` reads what each said, `passages()` their files
"""

from __future__ import annotations

import re
import socket
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from topology.delays.connection.program import STAGES

READY = "listening on"
# Ethernet, IPv4 and TCP without options.
HEADER_BYTES = 54
BUFFER_KIB = 16_384
# The kernel hands packets over to tcpdump when a block is full, and a second after its first at the
# latest; when it is ended sooner, they are lost.
HANDED_OVER_S = 2.0
NANOSECONDS, ETHERNET = 0xA1B2_3C4D, 1
FILE_HEAD, PACKET_HEAD = struct.Struct("<IHHiIII"), struct.Struct("<IIII")
ENDS = struct.Struct("!26x 4s 4s HH")
FLAGS_AT, SYN, ACK = 47, 0x02, 0x10
NS_PER_S = 1_000_000_000

# As table.py: the client's address, its port, the server's.
Key = tuple[str, int, int]
Times = dict[tuple[bytes, int, int], int]


class Point(NamedTuple):
    """A device of the box, and which of its packets are meant: those that come in or go out."""

    device: str
    packets: Literal["in", "out"]

    def file(self, folder: Path) -> Path:
        return folder / f"passages.{self.device}.pcap"


class Passage(NamedTuple):
    """Of one connection [ns]: its SYN's way through the box, and that of the answer."""

    to_server_ns: int | None
    to_client_ns: int | None


COMES = [Point(far, "in") for _, _, _, far in STAGES.values()]
GOES = [Point(target, "out") for _, target, *_ in STAGES.values()]
POINTS = (*COMES, *GOES)


def argv(point: Point, folder: Path) -> list[str]:
    """Return the command, for the box's namespace."""
    return [
        *("tcpdump", "-n", "-i", point.device, "-Q", point.packets, "-s", str(HEADER_BYTES)),
        *("-B", str(BUFFER_KIB), "--time-stamp-precision=nano", "-Z", "root"),
        *("-w", str(point.file(folder)), "tcp[tcpflags] & tcp-syn != 0"),
    ]


def complaint(said: str) -> str | None:
    """Return what a tcpdump said if it did not end well, or lost packets."""
    lost = re.search(r"(\d+) packets? dropped by kernel", said)
    return None if lost and lost[1] == "0" else " ".join(said.split())


def passages(folder: Path) -> dict[Key, Passage]:
    """Read the files of all points, and remove them: each connection's two passages.

    A SYN may be sent again, and all come and leave in their order: the first that came is the
    first that left.
    """
    came, went = _first(COMES, folder), _first(GOES, folder)
    return {
        (socket.inet_ntoa(client), client_port, server_port): Passage(
            _passed(came[SYN][key], went[SYN].get(key)),
            _passed(came[SYN | ACK].get(key), went[SYN | ACK].get(key)),
        )
        for key in came[SYN]
        for client, client_port, server_port in (key,)
    }


def _passed(came: int | None, went: int | None) -> int | None:
    return None if came is None or went is None else went - came


def _first(points: list[Point], folder: Path) -> dict[int, Times]:
    """SYN, or SYN and ACK -> connection -> when the first was seen at one of some points [ns]."""
    found: dict[int, Times] = {SYN: {}, SYN | ACK: {}}
    for point in points:
        path = point.file(folder)
        for time_ns, packet in packets(path.read_bytes()):
            source, destination, source_port, port = ENDS.unpack_from(packet)
            kind = packet[FLAGS_AT] & (SYN | ACK)
            key = (source, source_port, port) if kind == SYN else (destination, port, source_port)
            found[kind].setdefault(key, time_ns)
        path.unlink()
    return found


def packets(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Each packet of a pcap file, with its time [ns].

    Raises:
        ValueError: the file is another, or is cut short.
    """
    magic, *_, link = FILE_HEAD.unpack_from(data) if len(data) >= FILE_HEAD.size else (0, 0)
    if (magic, link) != (NANOSECONDS, ETHERNET):
        raise ValueError("not a capture in nanoseconds of an Ethernet device")
    at = FILE_HEAD.size
    while at < len(data):
        head = data[at : at + PACKET_HEAD.size].ljust(PACKET_HEAD.size, b"\xff")
        second, nanosecond, size, _ = PACKET_HEAD.unpack(head)
        at += PACKET_HEAD.size + size
        if at > len(data):
            raise ValueError("the capture is cut short")
        yield second * NS_PER_S + nanosecond, data[at - size : at]
