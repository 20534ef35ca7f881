# SPDX-License-Identifier: GPL-2.0-only
"""The TCP packets of a capture: IPv4, by the header of RFC 9293, section 3.1."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

from analysis import pcap

IPV4, TCP, ETHERNET_BYTES = b"\x08\x00", 6, 14
FIN, SYN, ACK = 1, 2, 16
WHOLE = 1 << 32
"""Sequence numbers count modulo this."""
HEADER = struct.Struct(">HHIIBBH")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A host's address, 4 bytes, and a port."""

    host: bytes
    port: int

    @property
    def pair(self) -> int:
        """The pair of the host, as in the tables of a record."""
        return pcap.pair_of(self.host)

    @property
    def address(self) -> str:
        """As 10.1.0.1."""
        return str(ip_address(self.host))


@dataclass(frozen=True, slots=True)
class Packet:
    """A TCP packet: its time in the file [ns], and its header.

    Sequence numbers and the window stand as in the header.
    """

    time_ns: int
    source: Endpoint
    target: Endpoint
    sequence: int
    acknowledged: int
    flags: int
    window: int
    payload_bytes: int


def packets(path: Path) -> Iterator[Packet]:
    """The TCP packets of a file in their order. Raises RecordError as `pcap.frames` does."""
    for time_ns, _, frame in pcap.frames(path):
        ip = frame[ETHERNET_BYTES:]
        if frame[12:14] != IPV4 or ip[9] != TCP:
            continue
        ip_bytes = 4 * (ip[0] & 15)
        source, target, sequence, acknowledged, offset, flags, window = HEADER.unpack_from(
            ip, ip_bytes
        )
        yield Packet(
            time_ns,
            Endpoint(ip[12:16], source),
            Endpoint(ip[16:20], target),
            sequence,
            acknowledged,
            flags,
            window,
            payload_bytes=int.from_bytes(ip[2:4]) - ip_bytes - 4 * (offset >> 4),
        )
