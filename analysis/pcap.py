# SPDX-License-Identifier: GPL-2.0-only
"""The reader of pcap files: nanosecond pcap, little-endian, Ethernet, as tcpdump wrote them.

Format: libpcap's savefile (pcap-savefile(5)).
"""

import struct
from collections.abc import Iterator
from pathlib import Path

from analysis.errors import RecordError
from analysis.files import regular

MAGIC_NS, ETHERNET = 0xA1B23C4D, 1
FILE = struct.Struct("<IHHiIII")
HEADER = struct.Struct("<IIII")
NS_PER_S = 1_000_000_000


def frames(path: Path) -> Iterator[tuple[int, int, bytes]]:
    """Of each packet its time [ns], its length on the wire [bytes], and what was kept of it.

    Raises:
        RecordError: it is no such file, or damaged; names it.
    """
    data = regular(path).read_bytes()
    magic, *_, link = FILE.unpack_from(data) if len(data) >= FILE.size else (0, 0)
    if (magic, link) != (MAGIC_NS, ETHERNET):
        raise RecordError(f"{path} is no Ethernet capture with times in nanoseconds")
    at = FILE.size
    while at < len(data):
        head = data[at : at + HEADER.size]
        if len(head) == HEADER.size:
            seconds, ns, kept, length = HEADER.unpack(head)
            at += HEADER.size + kept
        if len(head) < HEADER.size or at > len(data):
            raise RecordError(f"{path}: the last packet is cut off")
        yield seconds * NS_PER_S + ns, length, data[at - kept : at]


def pair_of(address: bytes) -> int:
    """The pair of a host by its IPv4 address: 10.SIDE.X.Y is that of pair 250 X + Y - 1."""
    return 250 * address[2] + address[3] - 1
