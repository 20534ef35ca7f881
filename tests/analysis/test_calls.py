# SPDX-License-Identifier: GPL-2.0-only
"""The calls that sent a segment, out of a table of events, and how two trials' calls are shown."""

from __future__ import annotations

import csv
from pathlib import Path

from analysis.compare import calls
from analysis.compare.difference import divergence
from analysis.compare.levels import Comparison, Comparisons
from analysis.compare.segments import connections
from analysis.records import Trial
from tests.analysis.test_compare import ACK, CLIENT, HANDSHAKE, PUSH, SERVER, Packet, trial

COLUMNS = ["time_ns", "event", "process", "depth", "function"]
OF_SEGMENT = ["saddr", "sport", "seq", "payload_bytes"]
DATA = 7_001  # the first byte that the server sends, in the header

Event = tuple[int, int, int, str]  # time [ns], process, depth, function
# The segment of the handshake that has data passes the port at 3,000 ns.
EVENTS: list[Event] = [
    (1_000, 0, 0, "tcp_v4_rcv"),
    (1_000, 0, 1, "tcp_ack"),
    (1_500, 7, 0, "tcp_sendmsg"),  # a process that sleeps in TCP while the softirq works
    (2_500, 0, 0, "tcp_v4_rcv"),
    (2_500, 0, 1, "tcp_write_xmit"),
    (2_500, 0, 2, f"sent {DATA} 1024"),
    (2_500, 7, 1, "tcp_push"),
    (2_500, 0, 2, "tcp_wfree"),
    (3_500, 0, 0, "tcp_v4_rcv"),
    (3_500, 0, 1, f"sent {DATA} 1024"),  # the same bytes again, after the segment has passed
]


def table(of: Trial, events: list[Event]) -> Trial:
    """The trial with these events in its trace.csv; `sent SEQ BYTES` is a segment of the server."""
    with (of.folder / "trace.csv").open("w", newline="") as stream:
        writer = csv.DictWriter(stream, [*COLUMNS, *OF_SEGMENT])
        writer.writeheader()
        for time_ns, process, depth, function in events:
            words = function.split()
            row = {"time_ns": time_ns, "process": process, "depth": depth}
            if words[0] != "sent":
                writer.writerow({**row, "event": "calls:enter", "function": function})
                continue
            segment = dict(zip(OF_SEGMENT, [*SERVER, *words[1:]], strict=True))
            writer.writerow({**row, "event": "calls:segment", **segment})
    return of


def found(of: Trial, number: int = 2) -> calls.Calls | None:
    [connection] = connections(of)
    return calls.calls(of, connection.segments[number])


def test_copies_that_gcc_makes_of_a_function_have_its_name(tmp_path: Path) -> None:
    copies = [(*when, name if " " in name else f"{name}.isra.0") for *when, name in EVENTS]
    told = found(table(trial(tmp_path / "a", HANDSHAKE), copies))
    assert told is not None and told.lines[:2] == ["tcp_v4_rcv", " tcp_write_xmit"]


def test_the_calls_are_those_around_the_segment_in_its_process(tmp_path: Path) -> None:
    told = found(table(trial(tmp_path / "a", HANDSHAKE), EVENTS))
    assert told is not None and told.begin_ns == 2_500
    assert told.lines == ["tcp_v4_rcv", " tcp_write_xmit", f"  {calls.LEAVES}", "  tcp_wfree"]


def test_a_packet_may_have_more_bytes_than_the_segment(tmp_path: Path) -> None:
    events = [(2_500, 0, 0, "tcp_tsq_handler"), (2_500, 0, 1, f"sent {DATA - 1024} 2048")]
    told = found(table(trial(tmp_path / "a", HANDSHAKE), events))
    assert told is not None and told.lines[0] == "tcp_tsq_handler"


def test_other_bytes_ports_and_tables_are_not_taken_for_it(tmp_path: Path) -> None:
    events = [(2_500, 0, 0, "tcp_v4_rcv"), (2_500, 0, 1, f"sent {DATA + 1} 1024")]
    one = trial(tmp_path / "a", HANDSHAKE)
    assert found(one) is None
    assert found(table(one, events)) is None
    events[1] = (2_500, 0, 1, f"sent {DATA} 1023")
    assert found(table(one, events)) is None
    assert found(table(one, EVENTS), 3) is None  # the client's


def shown(folder: Path, other: list[Packet], events: list[Event]) -> list[str]:
    """What is said of a trial with EVENTS and of another trial."""
    one = table(trial(folder / "a", HANDSHAKE), EVENTS)
    two = table(trial(folder / "b", other, level="b"), events)
    compared = Comparison(first=one, second=two, changed=[], divergence=divergence(one, two))
    return list(
        calls.lines(Comparisons(factor="f", levels=("a", "b"), each=[compared], responses=[]))
    )


def test_the_first_call_that_differs_and_both_sides_of_the_segment(tmp_path: Path) -> None:
    later = [*HANDSHAKE[:2], (2_999, *HANDSHAKE[2][1:])]
    events = [*EVENTS[:4], (2_500, 0, 1, "tcp_fix"), *EVENTS[4:]]
    assert shown(tmp_path, later, events) == [
        "",
        "the first call of TCP that differs, on any host:",
        "- a: 0.000002500 s tcp_v4_rcv > tcp_write_xmit",
        "+ b: 0.000002500 s tcp_v4_rcv > tcp_fix",
        "",
        "functions of TCP that the segment went through:",
        "- a: from 0.000002500 s on",
        "+ b: from 0.000002500 s on",
        "  tcp_v4_rcv",
        "+  tcp_fix",
        "   tcp_write_xmit",
        f"    {calls.LEAVES}",
        "    tcp_wfree",
    ]


def test_segments_of_two_hosts_are_shown_one_after_the_other(tmp_path: Path) -> None:
    other: list[Packet] = [*HANDSHAKE[:2], (3_000, CLIENT, SERVER, PUSH | ACK, 4_294_967_291, 0, 0)]
    said = shown(tmp_path, other, EVENTS)
    assert said[-7:] == [
        "functions of TCP that the segment went through:",
        "- a: from 0.000002500 s on",
        "+ b: not recorded",
        "- tcp_v4_rcv",
        "-  tcp_write_xmit",
        f"-   {calls.LEAVES}",
        "-   tcp_wfree",
    ]


def test_without_a_difference_nothing_is_said(tmp_path: Path) -> None:
    assert shown(tmp_path, HANDSHAKE, EVENTS) == []
