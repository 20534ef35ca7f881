# SPDX-License-Identifier: GPL-2.0-only
"""Connections with round trips of their own in the lab's kernel, checked by their handshakes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.labs.base import LabSpec
from harness.labs.uml import UmlLab, wait_for_exit
from tests import scripts_in_lab
from topology.delays.connection import program
from workload.packmime import carriers, ports, trace

pytestmark = pytest.mark.lab

MS = 1_000_000
REPEATS = 2
FIELDS = dict.fromkeys(trace.Header.__annotations__, 1)
# Direction, connection, wait, round trip, request, delay, response; two pairs, so that even numbers
# are of the first. The shortest and the longest at once; responses of one and of many segments.
ROWS = [
    ("down", 0, 1_000 * MS, 1 * MS, 422, 5 * MS, 2_258),
    ("down", 1, 1_000 * MS, 3_500 * MS, 422, 0, 8_895),
    ("down", 2, 1_010 * MS, 67 * MS + 1, 422, 10 * MS, 100_000),
    ("down", 3, 1_001 * MS, 2 * MS, 60, 0, 1),
    ("down", 4, 5_000 * MS, 1_059 * MS, 3_000, 100 * MS, 40_000),
    ("up", 0, 1_000 * MS, 97 * MS, 422, 0, 20_000),
    ("up", 1, 1_500 * MS, 5 * MS, 422, 0, 20_000),
    ("up", 2, 9_000 * MS, 0, 422, 0, 20_000),
]
NOT_IN_THE_TABLE = ("up", 1)
IN_THE_TABLE = [row for row in ROWS if row[:2] != NOT_IN_THE_TABLE]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a lab left that carried the rows twice."""
    folder = tmp_path_factory.mktemp("delays")
    lines = [f"{trace.FORMAT} {json.dumps(FIELDS)}", trace.COLUMNS]
    lines += [",".join(map(str, row)) for row in ROWS]
    (folder / "trace").write_text("\n".join([*lines, f"end,{len(ROWS)}"]) + "\n")
    script = f"python3 -B tests/topology/lab_delays.py /run/cellbed {REPEATS}"
    main = (
        f"cd /cellbed; PYTHONPATH=. {script} > /run/cellbed/said 2>&1;"
        " exec python3 -B -m harness.agent.power_off"
    )
    with UmlLab(LabSpec(pairs=2, main=main, memory_mib=1024), folder) as lab:
        wait_for_exit(lab, 300)
    said = (folder / "said").read_text()
    assert said.split()[-1:] == ["done"], said
    return folder


def results(run: Path, number: int = 0) -> dict[tuple[str, int], carriers.Result]:
    """What became of each connection."""
    tables = [run / f"{number}.{side}.{host}.csv" for side in trace.DIRECTIONS for host in (0, 1)]
    rows = [row for table in tables for row in carriers.read_exchanges(table)]
    return {(row.direction, row.connection): row for row in rows}


def excess_ns(result: carriers.Result, row: tuple) -> int:
    assert result.connected_ns is not None and result.begun_ns is not None
    return result.connected_ns - result.begun_ns - row[3]


def test_each_handshake_takes_its_own_round_trip(run: Path) -> None:
    """Over idle links all have the same excess, that of the links, to 10 ns."""
    found = results(run)
    excess = [excess_ns(found[row[:2]], row) for row in IN_THE_TABLE]
    assert max(excess) - min(excess) <= 10
    assert 20_000 < min(excess) < 100_000  # four times 5 us, and a SYN's and its answer's cells


def test_the_round_trip_stays_what_it_is(run: Path) -> None:
    """From request to first byte: a round trip and the server's delay, whenever in its life."""
    found = results(run)
    for row in IN_THE_TABLE:
        result = found[row[:2]]
        assert result.sent_ns is not None and result.first_byte_ns is not None
        if row[4] > 1460:
            continue  # a request of several segments takes longer
        excess = result.first_byte_ns - result.sent_ns - row[3] - row[5]
        assert 20_000 < excess < 600_000, row  # the links' part for a full segment


def test_all_is_done_and_connections_begin_on_their_nanosecond(run: Path) -> None:
    found = results(run)
    for row in IN_THE_TABLE:
        result = found[row[:2]]
        assert (result.state, result.received_bytes) == ("done", row[6])
        assert result.begun_ns is not None
        assert 0 <= result.begun_ns - row[2] < 2_000


def test_nothing_is_out_of_order(run: Path) -> None:
    for host in ("s1", "s2", "c1", "c2"):
        names, values = (run / f"{host}.netstat").read_text().splitlines()[:2]
        found = dict(zip(names.split(), values.split(), strict=True))
        assert found["TCPOFOQueue"] == "0"


def test_nothing_is_lost(run: Path) -> None:
    """Where the round trip is below the first timeout, 1 s (RFC 6298, 2.1), nothing is resent."""
    quick = {
        (row[0], ports.host(row[1], 2), *ports.ports(row[1], 2))
        for row in IN_THE_TABLE
        if row[3] < 1_000 * MS
    }
    sent_again = {}
    for direction, side in (("down", "s"), ("up", "c")):
        for host in (0, 1):
            for end in carriers.read_server(run / f"0.{side}{host + 1}.csv"):
                assert end.state == "done"
                key = (direction, host, end.client_port, end.server_port)
                sent_again[key] = (end.retransmits, end.timeouts)
    assert len(sent_again) == len(IN_THE_TABLE)
    assert {sent_again[key] for key in quick} == {(0, 0)}


def test_a_killed_program_leaves_nothing_behind(run: Path) -> None:
    """Else the SYN of a connection that no table has would be dropped."""
    assert (run / "killed").read_text() == "ConnectionRefusedError"


def test_a_connection_without_a_round_trip_does_not_come_through(run: Path) -> None:
    result = results(run)[NOT_IN_THE_TABLE]
    assert (result.state, result.connected_ns) == ("connecting", None)
    counters = program.read((run / "0.delays").read_text())
    assert counters.connections == len(IN_THE_TABLE)
    assert counters.unknown == counters.faults >= 1
    assert counters.to_server > 0 and counters.to_client > 0


def test_the_same_again_byte_for_byte(run: Path) -> None:
    for path in sorted(run.glob("0.*")):
        other = run / path.name.replace("0.", "1.", 1)
        assert path.read_text() == other.read_text(), path.name


CONNECTION = "echo 10.1.0.2 10000 8000 1000000 > t; "
BAD_INPUT = {
    "usage": ("", "/opt/cellbed/delays --table t", 2, "usage: delays"),
    "no table": ("", "/opt/cellbed/delays --table t --device lo", 1, "cannot read t: No such file"),
    "empty": ("> t; ", "/opt/cellbed/delays --table t --device lo", 1, "t has no connection"),
    "line": ("echo 10.1.0.2 1 2 > t; ", "/opt/cellbed/delays --table t --device lo", 1,
             "t:1: the line must be 'CLIENT_IPV4 CLIENT_PORT SERVER_PORT ROUND_TRIP_NS'"),
    "twins": (CONNECTION + "cat t t > u; ", "/opt/cellbed/delays --table u --device lo", 1,
              "u: the connection of client port 10000 and server port 8000 appears twice"),
    "device": (CONNECTION, "/opt/cellbed/delays --table t --device none", 1,
               "--device none: this device does not exist"),
    "object": (CONNECTION, "/opt/cellbed/delays --table t --device lo --object none", 1,
               "cannot open none: No such file"),
}  # fmt: skip


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, scripts_in_lab.Said]:
    """What the program said to bad input."""
    scripts = {name: before + command for name, (before, command, _, _) in BAD_INPUT.items()}
    return scripts_in_lab.run(scripts, tmp_path_factory.mktemp("bad"))


@pytest.mark.parametrize("case", BAD_INPUT)
def test_bad_input_is_one_line(said: dict[str, scripts_in_lab.Said], case: str) -> None:
    _, _, status, message = BAD_INPUT[case]
    assert said[case].status == status
    assert message in said[case].err
    assert status == 2 or said[case].err.count("\n") == 1
