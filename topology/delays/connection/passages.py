# SPDX-License-Identifier: GPL-2.0-only
"""How long each connection's first packet and its answer were in the box: the check of round trips.

tcpdump notes SYNs and SYN/ACKs as they come to the devices that give them their delay, and as they
leave behind its queue: nothing of program.py and of its table is in these times. Between the two a
packet waits for nothing but its connection's half of a round trip, whatever the links' queues hold.

1. in the box's namespace: start `argv()` of each of POINTS; each says `READY` in a line
2. the trial
3. after HANDED_OVER_S SIGTERM; `complaint()` reads what each said, `Passages.read()` their files
"""

from __future__ import annotations

import re
import socket
import struct
from array import array
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

NOT_SEEN = -1
# A connection in one number: the client's address, its port, the server's.
Key = int


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


class Passages:
    """The passages of all connections, in some 150 bytes a connection.

    A trial may have a quarter of a million connections, and a process of a lab has 256 MB: each
    page of its memory may be a mapping of the host, which allows 65,530 (vm.max_map_count).
    """

    def __init__(self) -> None:
        self._rows: dict[Key, int] = {}
        # When the first SYN and the first answer of each row came and went [ns].
        self._came = {SYN: array("q"), SYN | ACK: array("q")}
        self._went = {SYN: array("q"), SYN | ACK: array("q")}

    def read(self, folder: Path) -> None:
        """Read the files of all points, and remove them.

        A SYN may be sent again, and all come and leave in their order: the first that came is the
        first that left.
        """
        for points, times in ((COMES, self._came), (GOES, self._went)):
            for path in (point.file(folder) for point in points):
                for time_ns, packet in packets(path.read_bytes()):
                    self._see(times, packet, time_ns)
                path.unlink()

    def _see(self, times: dict[int, array[int]], packet: bytes, time_ns: int) -> None:
        source, destination, source_port, port = ENDS.unpack_from(packet)
        kind = packet[FLAGS_AT] & (SYN | ACK)
        key = (
            _key(source, source_port, port) if kind == SYN else _key(destination, port, source_port)
        )
        row = self._rows.setdefault(key, len(self._rows))
        if row == len(self._came[SYN]):
            for column in (*self._came.values(), *self._went.values()):
                column.append(NOT_SEEN)
        if times[kind][row] == NOT_SEEN:
            times[kind][row] = time_ns

    def of(self, client: str, client_port: int, server_port: int) -> Passage:
        """A connection's passages, by the client's address, its port and the server's."""
        row = self._rows.get(_key(socket.inet_aton(client), client_port, server_port))
        if row is None:
            return Passage(None, None)
        return Passage(self._passed(SYN, row), self._passed(SYN | ACK, row))

    def _passed(self, kind: int, row: int) -> int | None:
        came, went = self._came[kind][row], self._went[kind][row]
        return None if NOT_SEEN in (came, went) else went - came


def _key(client: bytes, client_port: int, server_port: int) -> Key:
    return int.from_bytes(client, "big") << 32 | client_port << 16 | server_port


def packets(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Each packet of a pcap file, with its time [ns].

    Raises:
        ValueError: the file is another, or is cut short.
    """
    magic, *_, link = FILE_HEAD.unpack_from(data) if len(data) >= FILE_HEAD.size else (0, 0)
    if (magic, link) != (NANOSECONDS, ETHERNET):
        raise ValueError("the file is no capture of an Ethernet device with times in nanoseconds")
    at = FILE_HEAD.size
    while at < len(data):
        head = data[at : at + PACKET_HEAD.size].ljust(PACKET_HEAD.size, b"\xff")
        second, nanosecond, size, _ = PACKET_HEAD.unpack(head)
        at += PACKET_HEAD.size + size
        if at > len(data):
            raise ValueError("the capture is cut short")
        yield second * NS_PER_S + nanosecond, data[at - size : at]
