# SPDX-License-Identifier: GPL-2.0-only
"""A trial's pcap files, as the exports read them; begins with a line, so it is no format."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from analysis.pcap import frames, pair_of
from analysis.records import Trial

SERVERS = 2
"""A server is 10.2.x.y."""


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
        return pair_of(self.data[26:30]) if ours else None

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
    ports = trial.plan.topology.layout().queues()
    found = {port: trial.folder / f"{port}.pcap" for port in ports}
    return {port: path for port, path in found.items() if path.is_file()}


def packets(path: Path) -> Iterator[Packet]:
    """All packets of a file, in its order; RecordError where it is damaged."""
    for time_ns, length, data in frames(path):
        yield Packet(time_ns=time_ns, length=length, data=data)
