# SPDX-License-Identifier: GPL-2.0-only
"""A trace and what both ends saw, row by row."""

from __future__ import annotations

import csv
import tracemalloc
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from workload.packmime import carriers, exchanges
from workload.packmime.carriers import Result, ServerResult
from workload.packmime.source import round_trips
from workload.packmime.trace import Exchange


def server(
    answered: int,
    sent: int,
    carried: int | None = None,
    state: str = "done",
    window: int = 65_535,
    ecn: int = 1,
) -> ServerResult:
    carried = sent if carried is None else carried
    return ServerResult(
        "10.1.0.2", 10_000, 8000, state, answered, sent, 3, 1, 4, 9, carried, 60, window, 4_000_000,
        ecn,
    )  # fmt: skip


# Of two hosts a side: a connection with two exchanges, one that is not finished, one up.
TRACE = [
    Exchange("down", 0, True, 0, 5_000_000, 100, 0, 2000),
    Exchange("down", 0, False, 7, 5_000_000, 100, 0, 300),
    Exchange("down", 1, True, 9, 8_000_000, 100, 0, 400),
    Exchange("down", 2, True, 9, 8_000_000, 100, 0, 400),
    Exchange("up", 0, True, 9, 1_000_000, 100, 0, 500),
]
RESULTS = [
    Result("down", 0, 0, 10, 5_000_310, 5_000_310, 9_000_000, 9_500_000, 2000, "done"),
    Result("down", 0, 1, 9_600_000, None, 9_600_000, 9_900_000, 9_950_000, 300, "done"),
    Result("down", 1, 0, 20, 8_000_400, 8_000_400, 9_000_000, None, 77, "receiving"),
    Result("down", 2, 0, None, None, None, None, None, 0, "not_begun"),
    Result("up", 0, 0, 30, 1_000_230, 1_000_230, 2_000_000, 2_000_000, 500, "done"),
]
SERVED = {
    ("down", 0): server(answered=2, sent=2300),
    ("down", 1): server(answered=0, sent=300, carried=200, ecn=0),
    ("up", 0): server(answered=1, sent=500, window=65_000),
}


def written(
    path: Path,
    results: Sequence[Result] = RESULTS,
    served: Mapping[tuple[str, int], ServerResult] = SERVED,
) -> exchanges.Totals:
    """The totals of TRACE with the tables of two hosts a side."""

    def of(direction: str) -> list[Iterator[Result]]:
        own = [one for one in results if one.direction == direction]
        return [iter([one for one in own if one.connection % 2 == host]) for host in range(2)]

    def ends(direction: str) -> list[list[ServerResult]]:
        return [[served[key] for key in [(direction, host)] if key in served] for host in range(2)]

    return exchanges.write(path, TRACE, of, ends)


def test_every_row_of_the_trace_has_one_and_all_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "exchanges.csv"
    totals = written(path)
    with path.open() as stream:
        rows = list(csv.DictReader(stream))
    assert [row["state"] for row in rows] == ["done", "done", "receiving", "not_begun", "done"]
    assert [row["exchange"] for row in rows] == ["0", "1", "0", "0", "0"]
    assert [row["marks"] for row in rows] == ["4", "4", "4", "", "4"]
    assert [row["resent_bytes"] for row in rows] == ["60", "60", "60", "", "60"]
    assert rows[2]["last_byte_ns"] == "" and rows[2]["received_bytes"] == "77"
    assert totals.states == {"done": 3, "receiving": 1, "not_begun": 1}
    assert (totals.unsent, totals.unreached) == (1, 0)
    assert totals.unlike == {0: 0, 1: 0}
    assert (totals.served, totals.with_ecn) == (3, 2)
    assert totals.received_bytes == {0: 2300, 1: 77}
    assert totals.scheduled_bytes == {0: 2700, 1: 400}
    assert (totals.asked, totals.done) == ({0: 3, 1: 1}, {0: 2, 1: 0})
    assert (totals.retransmits, totals.timeouts) == ({0: 3, 1: 3}, {0: 1, 1: 1})
    assert totals.handshake_excess_ns == 200
    assert totals.answer_excess_ns == -7_000_400  # sooner than its round trip
    assert (totals.connected, totals.delay_off_ns) == (3, 4_000_000)  # 4 ms, where none is asked
    assert totals.windows == {0: (65_000, 65_535), 1: (65_535, 65_535)}
    assert totals.last_byte_ns == 9_950_000


def test_an_exchange_without_a_result_is_no_record(tmp_path: Path) -> None:
    with pytest.raises(KeyError):
        written(tmp_path / "exchanges.csv", RESULTS[:-1])
    with pytest.raises(KeyError):
        written(tmp_path / "exchanges.csv", [*RESULTS[:1], *RESULTS[2:]])


# Of the connection with two exchanges, which is finished; of that under way; of that not begun.
UNLIKE = [
    ("too much", ("down", 0), server(answered=2, sent=2301)),
    ("too much on the wire", ("down", 0), server(answered=2, sent=2300, carried=2301)),
    ("too little", ("down", 0), server(answered=2, sent=2299)),
    ("too little on the wire", ("down", 0), server(answered=2, sent=2300, carried=2299)),
    ("an answer not counted", ("down", 0), server(answered=1, sent=2300)),
    ("an answer too many", ("down", 0), server(answered=3, sent=2300)),
    ("no server", ("down", 0), None),
    ("a request not understood", ("down", 1), server(0, 300, 200, state="garbled")),
    ("less than has come", ("down", 1), server(answered=0, sent=76)),
    ("more than was asked", ("down", 1), server(answered=0, sent=401)),
    ("no server for what has come", ("down", 1), None),
]


@pytest.mark.parametrize(("connection", "end"), [words[1:] for words in UNLIKE],
                         ids=[words[0] for words in UNLIKE])  # fmt: skip
def test_ends_that_count_otherwise_are_told(
    tmp_path: Path, connection: tuple[str, int], end: ServerResult | None
) -> None:
    direction, number = connection
    served = {key: one for key, one in SERVED.items() if key != (direction, number)}
    if end is not None:
        served[direction, number] = end
    totals = written(tmp_path / "exchanges.csv", served=served)
    assert {host for host, count in totals.unlike.items() if count} == {number}


def test_a_server_that_closes_before_its_last_byte_is_told(tmp_path: Path) -> None:
    """No network does that to a connection."""
    results = [one._replace(state="closed") if one.state == "receiving" else one for one in RESULTS]
    totals = written(tmp_path / "exchanges.csv", results)
    assert totals.unlike == {0: 0, 1: 1}


ENDS = [("10.1.0.1", 10_000, 8000, 5_000_001), ("10.1.0.2", 10_000, 8000, 8_000_000)]


@pytest.mark.parametrize(
    ("second", "passed", "farthest_ns"),
    [
        ((4_000_000, 4_000_000), 2, 1),
        ((4_000_000, 3_900_000), 2, -100_000),
        ((4_000_300, 4_000_000), 2, 300),
        ((4_000_300, None), 1, 1),
        (None, 1, 1),
    ],
)
def test_every_connection_is_held_to_its_own_round_trip(
    second: tuple[int, int | None] | None, passed: int, farthest_ns: int
) -> None:
    seen = {ENDS[0][:3]: (2_500_001, 2_500_001)} | ({ENDS[1][:3]: second} if second else {})
    found = round_trips(iter(ENDS), lambda *end: seen.get(end, (None, None)))
    assert found == {"passed": passed, "farthest_ns": farthest_ns}


def test_a_quarter_of_a_million_exchanges_fit_in_a_lab_s_process(tmp_path: Path) -> None:
    """A process of a lab has 256 MB; half of that is for other things."""
    count = 10_000
    trace = [Exchange("down", number, True, 9, 10**6, 100, 0, 500) for number in range(count)]
    table = tmp_path / "server.csv"
    row = "10.1.0.2,{},8000,done,1,500,0,0,0,9000,500,0,65535,4000000,0"
    rows = [row.format(10_000 + number) for number in range(count)]
    table.write_text("\n".join([carriers.SERVER_HEADER, *rows, ""]))

    def results(direction: str) -> list[Iterator[Result]]:
        return [(Result(direction, number, 0, 30, 10**6, 10**6, 2 * 10**6, 2 * 10**6, 500, "done")
                 for number in range(count))]  # fmt: skip

    tracemalloc.start()
    exchanges.write(tmp_path / "x.csv", trace, results, lambda _: [carriers.read_server(table)])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak / count * 125_000 < 128 * 2**20
