# SPDX-License-Identifier: GPL-2.0-only
"""What a WWW answer is on the wire, by the packets that leave a server."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.design import experiment
from harness.design.trials import planned
from tests.labs.test_capture import Packet, read
from tests.small import SMALL, run_trials, write_small

ETHERNET_BYTES = 14
IP_BYTES = 20
SYN_FIN_RST = 7
# The longest header of these files: 119 bytes. The shortest file has 102.
MOST_HEADER_BYTES = 120


@dataclass(frozen=True, kw_only=True)
class Segment:
    """Of a server: its TCP flags, the length of its data and how they begin."""

    flags: int
    length: int
    begin: bytes


def segment(packet: Packet) -> Segment:
    ip = packet.data[ETHERNET_BYTES:]
    tcp = ip[IP_BYTES:]
    header = 4 * (tcp[12] >> 4)
    length = int.from_bytes(ip[2:4]) - IP_BYTES - header
    return Segment(flags=tcp[13], length=length, begin=tcp[header:][:length])


def from_servers(folder: Path, settings: str) -> list[Segment]:
    """Of a valid trial of two seconds with the default settings but for these."""
    text = SMALL + f"[[rule]]\nwhen = {{}}\nset = {{ workload.duration_s = 2, {settings} }}\n"
    folder.mkdir()
    path = write_small(folder, text)
    wanted = experiment.with_captures(experiment.load(path), ["down"])
    trial = planned(wanted, path, ["network=WAN", "flavor=SACK"])[0]
    assert run_trials(folder / "out", [trial])[trial.name]["valid"]
    packets = read(folder / "out" / "trials" / trial.name / "down.pcap")
    return [segment(packet) for packet in packets if packet.downward]


@pytest.mark.lab
def test_header_and_file_are_one_stream_or_two(tmp_path: Path) -> None:
    ours = "workload.server_stream = 'joined', tcp.server_quickack = false"
    for name, settings, alone in (
        ("nginx", "workload.server_stream = 'nginx'", True),
        ("joined", ours, False),
    ):
        segments = from_servers(tmp_path / name, settings)
        begun = [s for s in segments if s.begin.startswith(b"HTTP/1.1 200")]
        pure = [s for s in segments if not s.length and not s.flags & SYN_FIN_RST]
        assert begun
        if alone:
            # A later one may be behind data that waits, and joined to it.
            assert begun[0].length < MOST_HEADER_BYTES
            assert len(pure) >= len(begun)
        else:
            assert all(s.length > MOST_HEADER_BYTES for s in begun)
            assert len(pure) < len(begun) / 10
