# SPDX-License-Identifier: GPL-2.0-only
"""Measures how long each packet is in the queue of a middle port, until SIGTERM.

    python3 -m topology.sojourn OUT PORT DEVICE...

A packet enters when it comes in at a DEVICE, the switch's port of a host. It leaves when it goes
out at PORT, behind the queue. Both times are the kernel's, on packet sockets. The switch itself
takes no time. OUT has a row for each packet that left: time [ns], the number of the DEVICE from 1
on, the bytes of the IP packet, the ECN field of the IP header as it left, and the time in the queue
[ns]. The last packets of the queue are missing if the program ends before they leave.
"""

from __future__ import annotations

import csv
import select
import signal
import socket
import struct
import sys
import time
from collections.abc import Callable, Iterator
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


class Follower:
    """Knows the packets that are in the queue."""

    def __init__(self, entries: list[socket.socket], way_out: socket.socket) -> None:
        self.entries = entries
        self.way_out = way_out
        self._entered: dict[bytes, tuple[int, int]] = {}

    def enter(self) -> None:
        """Take in the packets that have entered."""
        for number, link in enumerate(self.entries, 1):
            for time_ns, header in packets(link, outgoing=False):
                self._entered[key(header)] = time_ns, number

    def leave(self) -> Iterator[tuple[int, int, int, int, int]]:
        """Yield a row for each packet that has left; LostError."""
        for time_ns, header in packets(self.way_out, outgoing=True):
            name = key(header)
            if name not in self._entered:
                self.enter()  # it has entered and left since
            found = self._entered.pop(name, None)
            if found is None:
                raise LostError(f"a packet left at {time_ns} ns that did not enter: {header.hex()}")
            entered_ns, number = found
            size = int.from_bytes(header[2:4], "big")
            yield time_ns, number, size, header[1] & 3, time_ns - entered_ns

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


if __name__ == "__main__":
    main()
