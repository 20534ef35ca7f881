# SPDX-License-Identifier: GPL-2.0-only
"""Round trips of connections, as data."""

from __future__ import annotations

from pathlib import Path

import pytest

from topology.delays import handshakes, program, table


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
    with pytest.raises(ValueError, match=f"10.1.0.2:7: {round_trip_ns} ns: allowed are 0 to"):
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
    with pytest.raises(ValueError, match="delays did not end well"):
        program.read(said)


def test_the_shortest_excess_tells_of_one_wrong_round_trip() -> None:
    good = [(1_000_100, 1_000_000), (67_000_300, 67_000_000)]
    assert handshakes.shortest_excess_ns(good) == 100
    assert handshakes.shortest_excess_ns([*good, (1_000_100, 2_000_000)]) == -999_900
    assert handshakes.shortest_excess_ns([]) is None
