# SPDX-License-Identifier: GPL-2.0-only
"""Round trips of connections, as data."""

from __future__ import annotations

import socket
import struct
import tracemalloc
from pathlib import Path

import pytest

from topology.delays.connection import passages, program, table


def test_a_table_is_a_line_a_connection(tmp_path: Path) -> None:
    entries = [
        table.Entry("10.1.0.2", 10_000, 8_000, 3_500_000_000),
        table.Entry("10.2.0.2", 1, 65_535, 0),
    ]
    assert table.write(tmp_path / "table", entries) == 2
    assert (tmp_path / "table").read_text() == (
        "10.1.0.2 10000 8000 3500000000\n10.2.0.2 1 65535 0\n"
    )


@pytest.mark.parametrize("round_trip_ns", [-1, 100_000_000_001])
def test_a_round_trip_that_cannot_be_is_named(tmp_path: Path, round_trip_ns: int) -> None:
    with pytest.raises(ValueError, match=f"10.1.0.2:7 is {round_trip_ns} ns; allowed are 0 to"):
        table.write(tmp_path / "table", [table.Entry("10.1.0.2", 7, 8, round_trip_ns)])


def test_both_ports_of_the_box_delay() -> None:
    argv = program.argv(Path("/t"))
    assert argv[1:] == ["--table", "/t", "--device", "sat-sw2", "--device", "sat-sw1"]
    assert [line.split()[3] for line in program.queues()] == ["sat-sw2", "sat-sw1"]
    assert all(" fq " in line for line in program.queues())
    # With fewer bits connections share a flow, and wait for each other's round trips.
    assert all(line.endswith(" orphan_mask 4294967295") for line in program.queues())


SAID = (
    '{"format": "cellbed-delays/1", "connections": 3, "to_server": 10, "to_client": 9, '
    '"not_tcp": 1, "unknown": 2, "refused": 1}\n'
)


def test_counters_are_read() -> None:
    found = program.read("ready\n" + SAID)
    assert (found.connections, found.to_server, found.faults) == (3, 10, 3)


@pytest.mark.parametrize("said", ["", "ready\n", "[]", "delays: out of memory\n", SAID[:60], "{}"])
def test_a_program_that_did_not_end_well_is_told(said: str) -> None:
    with pytest.raises(ValueError, match="delays left no counters"):
        program.read(said)


CLIENT, SERVER = socket.inet_aton("10.1.0.1"), socket.inet_aton("10.2.0.1")


def segment(source: bytes, destination: bytes, ports: tuple[int, int], flags: int) -> bytes:
    head = bytes(12) + b"\x08\0" + b"\x45" + bytes(11) + source + destination
    return head + struct.pack("!HHIIBBHHH", *ports, 7, 0, 0x50, flags, 0, 0, 0)


def first(port: int, answer: bool) -> bytes:
    """The SYN of a client's port, or its answer."""
    if answer:
        return segment(SERVER, CLIENT, (8000, port), 0x12)
    return segment(CLIENT, SERVER, (port, 8000), 0x02)


SYN = segment(CLIENT, SERVER, (10_000, 8000), 0x02)
ANSWER = segment(SERVER, CLIENT, (8000, 10_000), 0x12)


def capture(path: Path, *seen: tuple[int, bytes]) -> None:
    """A file as tcpdump writes it."""
    data = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 54, 1)
    for time_ns, packet in seen:
        size = len(packet)
        data += struct.pack("<IIII", *divmod(time_ns, 10**9), size, size) + packet
    path.write_bytes(data)


def test_a_passage_is_from_coming_to_leaving_each_way(tmp_path: Path) -> None:
    """A SYN that is sent again before the first has left; an answer that has not left yet."""
    second = segment(CLIENT, SERVER, (10_001, 8000), 0x42)
    to_server, to_client = passages.COMES[1], passages.COMES[0]
    capture(to_server.file(tmp_path), (5, SYN), (9, second), (3_000_000_005, SYN))
    capture(passages.GOES[1].file(tmp_path), (1_750_000_005, SYN), (10, second), (2**32, SYN))
    capture(to_client.file(tmp_path), (1_800_000_000, ANSWER))
    capture(passages.GOES[0].file(tmp_path))
    found = passages.Passages()
    found.read(tmp_path)
    assert found.of("10.1.0.1", 10_000, 8000) == (1_750_000_000, None)
    assert found.of("10.1.0.1", 10_001, 8000) == (1, None)
    assert found.of("10.1.0.1", 10_002, 8000) == (None, None)
    assert not [*tmp_path.iterdir()]


def test_the_passages_of_a_large_trial_fit_in_a_lab_s_process(tmp_path: Path) -> None:
    """A process of a lab has 256 MB, and a trial of web traffic 250,000 connections."""
    count = 10_000
    for point, answer in zip(passages.POINTS, (True, False, True, False), strict=True):
        capture(point.file(tmp_path), *((i, first(10_000 + i, answer)) for i in range(count)))
    data = passages.POINTS[0].file(tmp_path).stat().st_size
    tracemalloc.start()
    found = passages.Passages()
    found.read(tmp_path)
    peak = tracemalloc.get_traced_memory()[1] - data
    tracemalloc.stop()
    assert found.of("10.1.0.1", 10_007, 8000) == (0, 0)
    assert peak / count * 250_000 < 64 * 2**20


@pytest.mark.parametrize("damage", [0, 10, 30, -1])
def test_a_capture_that_is_not_whole_is_refused(tmp_path: Path, damage: int) -> None:
    capture(tmp_path / "x", (5, SYN))
    with pytest.raises(ValueError, match="capture"):
        list(passages.packets((tmp_path / "x").read_bytes()[:damage]))


SAID_BY_TCPDUMP = "2 packets captured\n2 packets received by filter\n0 packets dropped by kernel\n"


@pytest.mark.parametrize(
    ("said", "well"),
    [
        (SAID_BY_TCPDUMP, True),
        (SAID_BY_TCPDUMP.replace("0 p", "3 p"), False),
        ("tcpdump: down1: No such device", False),
    ],
)
def test_a_capture_that_lost_packets_is_told(said: str, well: bool) -> None:
    assert (passages.complaint(said) is None) == well
