# SPDX-License-Identifier: GPL-2.0-only
"""The packets of each server as tcpdump saw them leave its host, beside the server's own qlog.

tcpdump sees a packet when it has crossed the host's access link, of which all is known. So the
moments of the qlog say when each packet must be seen: Access.seen_ns().

A QUIC datagram has one packet or several (RFC 9000, section 12.2). A packet with a short header is
the last of its datagram. Only a datagram with an Initial packet may have padding outside of its
packets.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from subprocess import Popen

from plan.layout import Link
from workload.errors import WorkloadError
from workload.quic.qlog import Sent
from workload.ready import not_begun
from workload.source import Programs, Testbed

HEADER_BYTES = 64
BUFFER_KIB = 2048  # a lab computes in no time, so tcpdump reads it before it is full
HELD_S = 2  # the kernel hands tcpdump a last packet within a second
NANOSECONDS = 0xA1B23C4D
MOST_PACKETS = 4  # of a datagram: a packet for each kind of key
ETHERNET, IP, UDP = 14, 20, 8
PACKET_HEAD = struct.Struct("<4I")  # seconds, nanoseconds, kept bytes, bytes


@dataclass(frozen=True, slots=True)
class Datagram:
    """One datagram on the wire: the moment [ns] on the clock of the file, the bytes of UDP."""

    time_ns: int
    length_bytes: int


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """What a server's qlog and its wire say of each other.

    unlike    packets that are in one of them only, or with another length
    off_ns    largest difference between the moment at which a datagram was seen and the moment at
              which its qlog lets it be seen; the first datagram is right by definition [ns]
    """

    unlike: int
    off_ns: int


@dataclass(frozen=True, kw_only=True)
class Access:
    """The link of a host to its switch, which netem makes (topology/commands.py)."""

    link: Link

    def seen_ns(self, sent_ns: int, before_ns: int, length_bytes: int) -> int:
        """Return when a datagram has crossed the link; `before_ns`: when the one before it had."""
        link_bytes = self.link.framing.link_bytes(length_bytes + UDP + IP)
        time_ns = link_bytes * 10**9 // self.link.netem_byte_per_s
        return max(sent_ns + self.link.delay_ns, before_ns) + time_ns


def start(testbed: Testbed, programs: Programs, pair: int, path: Path) -> Popen[str]:
    """Begin to capture what a server sends; it is complete when `programs` has ended."""
    process = programs.start(testbed.server_pid(pair), [
        *("tcpdump", "-n", "-i", "eth0", "-Q", "out", "-s", str(HEADER_BYTES)),
        *("-B", str(BUFFER_KIB), "--time-stamp-precision=nano", "-Z", "root", "-w", str(path)),
        "udp",
    ])  # fmt: skip
    assert process.stdout is not None
    said = ""
    for line in process.stdout:
        if "listening on" in line:
            return process
        said += line
    raise not_begun(f"tcpdump at server {pair}", said)


def read(path: Path) -> list[Datagram]:
    """Return the datagrams of a capture.

    Raises:
        WorkloadError: it is no capture of IPv4 with nanoseconds, or cut short.
    """
    data = path.read_bytes()
    if len(data) < 24 or struct.unpack_from("<I", data)[0] != NANOSECONDS:
        raise WorkloadError(f"{path}: no capture with nanoseconds")
    found, place = [], 24
    while place < len(data):
        if place + PACKET_HEAD.size > len(data):
            raise WorkloadError(f"{path}: the last packet is cut short")
        seconds, rest, kept, _ = PACKET_HEAD.unpack_from(data, place)
        place += PACKET_HEAD.size
        if place + kept > len(data):
            raise WorkloadError(f"{path}: the last packet is cut short")
        if kept < ETHERNET + IP + UDP or data[place + ETHERNET] >> 4 != 4:
            raise WorkloadError(f"{path}: a packet is not UDP over IPv4")
        length = struct.unpack_from("!H", data, place + ETHERNET + IP + 4)[0] - UDP
        found.append(Datagram(seconds * 10**9 + rest, length))
        place += kept
    return found


def offset_ns(first: Datagram, logged: Sent, access: Access) -> int:
    """Return the clock of the capture minus that of the qlog, by the first packet of both [ns]."""
    return first.time_ns - access.seen_ns(0, 0, first.length_bytes) - logged.time_ns


def compare(wire: Sequence[Datagram], logged: Sequence[Sent], access: Access) -> Comparison:
    """Go through both in their order. A first difference leaves all that follows unlike."""
    if not wire or not logged:
        return Comparison(unlike=len(wire) + len(logged), off_ns=0)
    offset = offset_ns(wire[0], logged[0], access)
    counts = matched(wire, logged)
    place, off_ns, before_ns = 0, 0, 0
    for datagram, packets in zip(wire, counts, strict=False):
        sent_ns = logged[place].time_ns + offset
        before_ns = access.seen_ns(sent_ns, before_ns, datagram.length_bytes)
        off_ns = max(off_ns, datagram.time_ns - before_ns, key=abs)
        place += packets
    unlike = len(wire) - len(counts) + len(logged) - place
    return Comparison(unlike=unlike, off_ns=off_ns)


def matched(wire: Sequence[Datagram], logged: Sequence[Sent]) -> list[int]:
    """Return how many packets each datagram has, up to the first that has none that fit.

    How many packets share a padded datagram shows only in what follows, so each way is tried.
    """
    best: list[int] = []
    ways: list[list[int]] = [[]]
    while ways:
        counts = ways.pop()
        place = sum(counts)
        while len(counts) < len(wire):
            found = within(wire[len(counts)], logged, place)
            if not found:
                break
            ways += [[*counts, other] for other in found[1:]]
            counts.append(found[0])
            place += found[0]
        if len(counts) == len(wire) and place == len(logged):
            return counts
        best = max(best, counts, key=len)
    return best


def within(datagram: Datagram, logged: Sequence[Sent], place: int) -> list[int]:
    """Return how many packets from `place` on may make up a datagram; []: they do not."""
    length, found = 0, []
    for count, one in enumerate(logged[place : place + MOST_PACKETS], 1):
        length += one.length_bytes
        if length > datagram.length_bytes:
            break
        if length == datagram.length_bytes or logged[place].kind == "initial":
            found.append(count)
        if one.kind == "1RTT":
            break
    return found[::-1]
