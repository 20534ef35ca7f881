# SPDX-License-Identifier: GPL-2.0-only
"""Measures how long each packet is in the queue of a middle port, until SIGTERM.

    python3 -m topology.sojourn OUT PORT DEVICE...

A packet enters when it comes in at a DEVICE, the switch's port of a host. It leaves when it goes
out at PORT, behind the queue. Both times are the kernel's, on packet sockets. The switch itself
takes no time. OUT has a row for each packet that left: time [ns], the number of the DEVICE from 1
on, the bytes of the IP packet, the ECN field of the IP header as it left, and the time in the queue
[ns]. The last packets of the queue are missing if the program ends before they leave.

Some packets are equal byte for byte: the kernel numbers neither resets nor a repeated SYN-ACK. The
times of such packets are found at the end, when it is known how many of them left.
"""

from __future__ import annotations

import csv
import select
import signal
import socket
import struct
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

ETH_P_ALL, ETH_P_IP = 3, 0x0800
SOL_PACKET, PACKET_STATISTICS, OUTGOING = 263, 6, 4
SO_TIMESTAMPNS = 35
TIME = struct.Struct("=qq")
STATISTICS = struct.Struct("=II")
ROOM_BYTES = 64 * 1024 * 1024
HEADER_BYTES = 64
NS = 10**9
WAIT_S = 0.1

Packet = tuple[int, bytes]


class LostError(RuntimeError):
    """A packet left that was not seen to enter, or a socket had no room for a packet."""


def opened(device: str) -> socket.socket:
    """Open a packet socket on a device; packets begin with the IP header and have their time.

    The socket asks for all protocols: a switch takes other packets before they come to a socket.
    """
    found = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, ROOM_BYTES)
    found.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    found.bind((device, ETH_P_ALL))
    found.setblocking(False)
    return found


def packets(link: socket.socket, *, outgoing: bool) -> Iterator[Packet]:
    """Yield the waiting IP packets of one direction: the time [ns], and the first bytes."""
    while True:
        try:
            data, extra, _, address = link.recvmsg(HEADER_BYTES, 64)
        except BlockingIOError:
            return
        if address[1] == ETH_P_IP and (address[2] == OUTGOING) == outgoing:
            seconds, ns = TIME.unpack_from(extra[0][2])
            yield seconds * NS + ns, data


def key(header: bytes) -> bytes:
    """Return what tells a packet from all others: identification, addresses, ports, sequence.

    The queue may change the ECN field and so the checksum; they do not belong to the key.
    """
    return header[4:6] + header[12:20] + header[(header[0] & 15) * 4 :][:8]


@dataclass
class Equal:
    """Packets of one key: the moments [ns] at which they entered, and at which some of them left.

    rows: the number of each leaving packet's row, from 0.
    """

    number: int
    entered: list[int]
    left: list[int] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)

    def sojourns(self) -> Iterator[int]:
        """Yield the time of each packet that left, in the order of leaving; LostError.

        They keep their order in the queue. Each packet that left is the last that it can be: of
        two of which only one left, the queue more probably dropped the one that came much earlier.
        """
        entered, found = sorted(self.entered), []
        for left_ns in reversed(self.left):
            while entered and entered[-1] > left_ns:
                entered.pop()
            if not entered:
                raise LostError(f"one of several equal packets left at {left_ns} ns, none entered")
            found.append(left_ns - entered.pop())
        return reversed(found)


class Follower:
    """Knows the packets that are in the queue."""

    def __init__(self, entries: list[socket.socket], way_out: socket.socket) -> None:
        self.entries = entries
        self.way_out = way_out
        self._entered: dict[bytes, tuple[int, int]] = {}
        self._equal: dict[bytes, Equal] = {}
        self._rows = 0

    def enter(self) -> None:
        """Take in the packets that have entered."""
        for number, link in enumerate(self.entries, 1):
            for time_ns, header in packets(link, outgoing=False):
                name = key(header)
                if name in self._entered:
                    before_ns, number_before = self._entered.pop(name)
                    self._equal[name] = Equal(number_before, [before_ns])
                if name in self._equal:
                    self._equal[name].entered.append(time_ns)
                else:
                    self._entered[name] = time_ns, number

    def leave(self) -> Iterator[tuple[int, int, int, int, int]]:
        """Yield a row for each packet that has left; LostError.

        The time of a packet that equals another one is -1 here; late() has it.
        """
        for time_ns, header in packets(self.way_out, outgoing=True):
            name = key(header)
            if name not in self._entered:
                self.enter()  # it has entered and left since
            size = int.from_bytes(header[2:4], "big")
            if name in self._entered:
                entered_ns, number = self._entered.pop(name)
                yield time_ns, number, size, header[1] & 3, time_ns - entered_ns
            elif name in self._equal:
                equal = self._equal[name]
                equal.left.append(time_ns)
                equal.rows.append(self._rows)
                yield time_ns, equal.number, size, header[1] & 3, -1
            else:
                raise LostError(f"a packet left at {time_ns} ns that did not enter: {header.hex()}")
            self._rows += 1

    def late(self) -> dict[int, int]:
        """Return number of a row -> its time in the queue, for the equal packets; LostError."""
        return {
            row: time_ns
            for equal in self._equal.values()
            for row, time_ns in zip(equal.rows, equal.sojourns(), strict=True)
        }

    def check(self) -> None:
        """LostError if a socket lost a packet."""
        for link in (*self.entries, self.way_out):
            _, lost = STATISTICS.unpack(
                link.getsockopt(SOL_PACKET, PACKET_STATISTICS, STATISTICS.size)
            )
            if lost:
                raise LostError(f"a packet socket had no room for {lost} packets")


def follow(
    follower: Follower, ended: Callable[[], bool]
) -> Iterator[tuple[int, int, int, int, int]]:
    """Yield the rows until the end is asked for."""
    last = False
    while not last:
        last = ended()  # what came before the end is still taken in
        select.select([follower.way_out], [], [], 0 if last else WAIT_S)
        follower.enter()
        yield from follower.leave()
    follower.check()


def put_in(late: Mapping[int, int], path: Path) -> None:
    """Give rows of a table, by their numbers, their times in the queue."""
    before = path.rename(f"{path}.before")
    with (
        before.open(newline="", encoding="ascii") as rows,
        path.open("w", newline="", encoding="ascii") as stream,
    ):
        table = csv.writer(stream)
        for number, row in enumerate(csv.reader(rows)):
            table.writerow([*row[:-1], late.get(number, row[-1])])
    before.unlink()


def main() -> None:
    """See the module's text; times in OUT are of the monotonic clock. Says when it is ready."""
    out, port, *devices = sys.argv[1:]
    asked: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: asked.append(number))
    entries = [opened(device) for device in devices]
    follower = Follower(entries, opened(port))
    print("ready", flush=True)
    offset_ns = time.time_ns() - time.monotonic_ns()
    with Path(out).open("w", newline="", encoding="ascii") as stream:
        table = csv.writer(stream)
        for time_ns, *rest in follow(follower, lambda: bool(asked)):
            table.writerow((time_ns - offset_ns, *rest))
    late = follower.late()
    if late:
        put_in(late, Path(out))


if __name__ == "__main__":
    main()
