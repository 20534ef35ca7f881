# SPDX-License-Identifier: GPL-2.0-only
"""Measures how long each connection's first packet and its answer were in the box.

The check of round trips uses these times. tcpdump notes SYNs and SYN/ACKs when they arrive at the
devices that delay them, and when they leave behind the queue of these devices. The times do not
depend on program.py and its table. Between both points, a packet waits only for its connection's
half of the round trip, whatever the queues of the links hold.

1. in the box's namespace: start `argv()` of each of POINTS; each says `READY` in a line
2. the trial
3. after HANDED_OVER_S SIGTERM; `complaint()` reads each output, `Passages.read()` reads the files
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
# The kernel hands packets over to tcpdump when a block is full, or one second after the block's
# first packet. If tcpdump ends sooner, the packets are lost.
HANDED_OVER_S = 2.0
NANOSECONDS, ETHERNET = 0xA1B2_3C4D, 1
FILE_HEAD, PACKET_HEAD = struct.Struct("<IHHiIII"), struct.Struct("<IIII")
# Both addresses, both ports, the flags.
ENDS = struct.Struct("!26x II HH 9x B")
SYN, ACK = 0x02, 0x10
NS_PER_S = 1_000_000_000

NOT_SEEN = -1
# A connection as one number: the client's address, its port, the server's port.
Key = int


class Point(NamedTuple):
    """A device of the box, and the packets to capture there: those that come in or go out."""

    device: str
    packets: Literal["in", "out"]

    def file(self, folder: Path) -> Path:
        return folder / f"passages.{self.device}.pcap"


class Passage(NamedTuple):
    """The time [ns] that one connection's SYN took through the box, and the time of the answer."""

    to_server_ns: int | None
    to_client_ns: int | None


COMES = [Point(far, "in") for _, _, _, far in STAGES.values()]
GOES = [Point(target, "out") for _, target, *_ in STAGES.values()]
POINTS = (*COMES, *GOES)


def argv(point: Point, folder: Path) -> list[str]:
    """Return the command, which runs in the box's namespace."""
    return [
        *("tcpdump", "-n", "-i", point.device, "-Q", point.packets, "-s", str(HEADER_BYTES)),
        *("-B", str(BUFFER_KIB), "--time-stamp-precision=nano", "-Z", "root"),
        *("-w", str(point.file(folder)), "tcp[tcpflags] & tcp-syn != 0"),
    ]


def complaint(said: str) -> str | None:
    """Return the output of a tcpdump if it failed or lost packets; else None."""
    lost = re.search(r"(\d+) packets? dropped by kernel", said)
    return None if lost and lost[1] == "0" else " ".join(said.split())


class Passages:
    """The passages of all connections, in about 150 bytes per connection.

    A trial may have a quarter of a million connections, but a process of a lab has only 256 MB:
    each page of its memory may be a mapping of the host, which allows 65,530 mappings
    (vm.max_map_count).
    """

    def __init__(self) -> None:
        self._rows: dict[Key, int] = {}
        # The times at which the first SYN and the first answer of each row arrived and left [ns].
        self._came = {SYN: array("q"), SYN | ACK: array("q")}
        self._went = {SYN: array("q"), SYN | ACK: array("q")}

    def read(self, folder: Path) -> None:
        """Read the files of all points, and remove them.

        A SYN may be sent again. All copies arrive and leave in order, so the first that arrived is
        the first that left.
        """
        for points, times in ((COMES, self._came), (GOES, self._went)):
            for path in (point.file(folder) for point in points):
                self._see(times, path.read_bytes())
                path.unlink()

    def _see(self, times: dict[int, array[int]], data: bytes) -> None:
        """Note the first time of each connection's SYN, and of its answer, in a file."""
        rows, seen = self._rows, times[SYN]
        for time_ns, at in packets(data):
            source, destination, source_port, port, flags = ENDS.unpack_from(data, at)
            kind = flags & (SYN | ACK)
            if kind == SYN:
                key = _key(source, source_port, port)
            else:
                key = _key(destination, port, source_port)
            row = rows.setdefault(key, len(rows))
            if row == len(seen):
                for column in (*self._came.values(), *self._went.values()):
                    column.append(NOT_SEEN)
            column = times[kind]
            if column[row] == NOT_SEEN:
                column[row] = time_ns

    def of(self, client: str, client_port: int, server_port: int) -> Passage:
        """Return a connection's passages, by the client's address, its port, the server's port."""
        address = int.from_bytes(socket.inet_aton(client), "big")
        row = self._rows.get(_key(address, client_port, server_port))
        if row is None:
            return Passage(None, None)
        return Passage(self._passed(SYN, row), self._passed(SYN | ACK, row))

    def _passed(self, kind: int, row: int) -> int | None:
        came, went = self._came[kind][row], self._went[kind][row]
        return None if NOT_SEEN in (came, went) else went - came


def _key(client: int, client_port: int, server_port: int) -> Key:
    return client << 32 | client_port << 16 | server_port


def packets(data: bytes) -> Iterator[tuple[int, int]]:
    """Yield of each packet of a pcap file its time [ns], and where its bytes begin.

    Raises:
        ValueError: the file has another format, or it is cut short.
    """
    magic, *_, link = FILE_HEAD.unpack_from(data) if len(data) >= FILE_HEAD.size else (0, 0)
    if (magic, link) != (NANOSECONDS, ETHERNET):
        raise ValueError("the file is no capture of an Ethernet device with times in nanoseconds")
    at, end = FILE_HEAD.size, len(data)
    while at < end:
        if at + PACKET_HEAD.size > end:
            raise ValueError("the capture is cut short")
        second, nanosecond, size, _ = PACKET_HEAD.unpack_from(data, at)
        begin = at + PACKET_HEAD.size
        at = begin + size
        if at > end:
            raise ValueError("the capture is cut short")
        yield second * NS_PER_S + nanosecond, begin
