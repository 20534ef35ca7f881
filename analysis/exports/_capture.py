# SPDX-License-Identifier: GPL-2.0-only
"""A trial's pcap files: nanosecond pcap, little-endian, Ethernet, as tcpdump wrote them."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from analysis.errors import RecordError
from analysis.records import Trial

PORTS = ("down", "up")
SECOND_NS = 1_000_000_000
MAGIC_NS = 0xA1B23C4D
FILE = struct.Struct("<IHHiIII")
HEADER = struct.Struct("<IIII")
SERVERS, PAIRS_A_NUMBER = 2, 250
"""A server is 10.2.x.y; its pair is 250 x + y - 1."""


@dataclass(frozen=True, kw_only=True)
class Packet:
    """time_ns: on the files' clock; length: on the wire; data: what was kept, from Ethernet on."""

    time_ns: int
    length: int
    data: bytes

    @property
    def sender(self) -> int | None:
        """The pair whose server sent it; None of any other packet."""
        ours = self.data[12:14] == b"\x08\x00" and self.data[26:28] == bytes([10, SERVERS])
        return self.data[28] * PAIRS_A_NUMBER + self.data[29] - 1 if ours else None

    @property
    def payload_bytes(self) -> int:
        """TCP payload; 0 of what is no TCP over IPv4."""
        if self.data[12:14] != b"\x08\x00" or self.data[23] != 6:
            return 0
        ip_bytes = (self.data[14] & 15) * 4
        tcp_bytes = (self.data[14 + ip_bytes + 12] >> 4) * 4
        return int.from_bytes(self.data[16:18], "big") - ip_bytes - tcp_bytes


def captured(trial: Trial) -> dict[str, Path]:
    """The trial's pcap files by port."""
    found = {port: trial.folder / f"{port}.pcap" for port in PORTS}
    return {port: path for port, path in found.items() if path.is_file()}


def packets(path: Path) -> Iterator[Packet]:
    """All packets of a file, in its order; RecordError where it is damaged."""
    data = path.read_bytes()
    try:
        magic, *_, link = FILE.unpack_from(data)
        if (magic, link) != (MAGIC_NS, 1):
            raise RecordError(f"{path}: not a nanosecond pcap of Ethernet")
        at = FILE.size
        while at < len(data):
            seconds, ns, kept, length = HEADER.unpack_from(data, at)
            at += HEADER.size + kept
            if at > len(data):
                raise RecordError(f"{path}: its last packet is cut off")
            found = data[at - kept : at]
            yield Packet(time_ns=seconds * SECOND_NS + ns, length=length, data=found)
    except struct.error as error:
        raise RecordError(f"{path}: damaged: {error}") from None
