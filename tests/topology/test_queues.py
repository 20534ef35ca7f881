# SPDX-License-Identifier: GPL-2.0-only
"""What each kind of queue says of its counters, and the words that it gives to tc."""

from __future__ import annotations

import struct
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from plan.atm import frame_cells
from plan.layout import last_cell_wait_ns
from topology.qdisc import QdiscQueue, counter_at
from topology.queues import (
    adaptive_red,
    adaptive_red_ns2,
    cake,
    cells,
    codel,
    dualpi2,
    fq_pie,
    pie,
)

CODEL: dict[str, Any] = {"sent": 90, "drops": 8, "qlen": 2, "marked": 9, "packets": 91}


def test_packets_are_let_out_dropped_or_wait() -> None:
    assert codel.Queue.unaccounted(CODEL, 100, 90) == [0, 0]
    assert codel.Queue.refused(CODEL) == 8 and codel.Queue.waiting(CODEL) == 2


@pytest.mark.parametrize(
    ("changed", "sent", "left", "missing"),
    [
        ({}, 101, 90, [1, 0]),  # one never came to the queue
        ({}, 100, 89, [0, 1]),  # one let out and not on the port's wire
        ({"drops": 7}, 100, 90, [1, 0]),  # a drop that is not told
        ({"qlen": 3}, 100, 90, [-1, 0]),
    ],
)
def test_one_packet_too_few_or_too_many_shows(
    changed: dict[str, int], sent: int, left: int, missing: list[int]
) -> None:
    assert codel.Queue.unaccounted(CODEL | changed, sent, left) == missing


def test_shares_are_of_the_interval() -> None:
    begin = {"sent": 40, "drops": 3, "marked": 4}
    assert codel.Queue.figures(CODEL, begin) == {"dropped_share": 5 / 55, "marked_share": 5 / 50}
    assert codel.Queue.figures(CODEL, None)["dropped_share"] == 8 / 98
    assert codel.Queue.figures(CODEL, CODEL) == {"dropped_share": None, "marked_share": None}


def test_a_packet_is_queued_whole_a_frame_cell_by_cell() -> None:
    frame = frame_cells(1064)
    assert codel.Queue.idle_wait_ns(frame, 3.0, 9.0) == frame * 9.0
    assert cells.Queue.idle_wait_ns(frame, 3.0, 9.0) == last_cell_wait_ns(frame, 3.0, 9.0)


def test_words_for_tc() -> None:
    down, up = codel.Settings(limit_packets=7, ecn=True).ports(1024)
    assert down == up
    assert down.discipline() == "codel limit 7 target 5000us interval 100000us ecn"
    assert codel.Queue.qdiscs == ("codel", "tbf")


@pytest.mark.parametrize(
    ("kind", "keys", "said"),
    [
        (codel, {"limit_packets": 0}, "queue.limit_packets = 0: allowed are 1 to 1_000_000"),
        (pie, {"tupdate_us": 999}, "queue.tupdate_us = 999: allowed are 1000 to 1_000_000"),
        (fq_pie, {"flows": 65_537}, "queue.flows = 65537: allowed are 1 to 65_536"),
        (dualpi2, {"coupling": 256}, "queue.coupling = 256: allowed are 1 to 255"),
        (dualpi2, {"l_queue": "ect0"}, "queue.l_queue = ect0: "),
        (dualpi2, {"alpha_hz": 0.001}, "queue.alpha_hz = 0.001: allowed are 0.004 to 100_000"),
        (cake, {"rtt_us": 10**8}, "queue.rtt_us = 100000000: allowed are 1000 to 10_000_000"),
        (adaptive_red, {"limit_packets": 9, "min_packets": 1}, "set both .* or neither"),
        (adaptive_red_ns2, {"limit_packets": 9, "min_packets": 1}, "set both .* or neither"),
        (adaptive_red_ns2, {"limit_packets": 9, "count": "cells"}, "queue.count = cells: "),
        (adaptive_red, {"limit_packets": 10**7}, "queue.limit_packets = 10000000: allowed"),
    ],
)
def test_a_key_out_of_range(kind: ModuleType, keys: dict[str, int], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        kind.Settings(**keys)


def test_series_of_both_ports_from_the_trials_start(tmp_path: Path) -> None:
    for direction in ("down", "up"):
        (tmp_path / f"{direction}.qdisc.csv").write_text("5,1,100,0,0\n15,2,200,1,0\n")
    QdiscQueue.write_series(tmp_path, 10, tmp_path, frames=False)
    assert (tmp_path / "queue.csv").read_text().split() == [
        "time_ns,port,backlog_packets,backlog_bytes,dropped_packets,marked_packets",
        "5,down,2,200,1,0",
        "5,up,2,200,1,0",
    ]


def test_a_queue_may_have_more_columns(tmp_path: Path) -> None:
    for direction in ("down", "up"):
        (tmp_path / f"{direction}.qdisc.csv").write_text("15,2,200,1,0,9000,400,7,8\n")
    dualpi2.Queue.write_series(tmp_path, 10, tmp_path, frames=False)
    head, first, _ = (tmp_path / "queue.csv").read_text().split()
    assert head.endswith("marked_packets,c_delay_us,l_delay_us,c_packets,l_packets")
    assert first == "5,down,2,200,1,0,9000,400,7,8"


def test_the_defaults_of_dualpi2_are_those_of_its_source() -> None:
    """dualpi2_reset_default() of net/sched/sch_dualpi2.c, in linux/pkt_sched.h's numbers."""
    assert dualpi2.Queue().attributes() == {
        1: 10_000, 3: 15_000, 4: 16_000, 5: 41, 6: 819, 8: 1_000, 9: 0,
        10: 2, 11: 1, 12: 0, 13: 10, 14: 1, 15: 1,
    }  # fmt: skip


def test_keys_of_dualpi2_in_the_kernels_units() -> None:
    found = dualpi2.Queue(
        memory_bytes=70_000, step_packets=5, l_queue="any-ect", overload="overflow",
        drop_at="enqueue", alpha_hz=0.5,
    ).attributes()  # fmt: skip
    assert [found.get(name) for name in (2, 7, 8, 14, 11, 12, 5)] == [70_000, 5, None, 3, 0, 1, 128]


def test_the_gains_of_dualpi2_come_back_as_the_kernel_rounds_them() -> None:
    """A kernel of 7.3 shows 40 and 818 for its defaults 41 and 819."""
    kept = dualpi2.Queue().kept()
    assert (kept[5], kept[6]) == (40, 818)


def test_shares_of_dualpi2() -> None:
    begin = {"packets_in_c": 10, "packets_in_l": 20, "step_marks": 1}
    end = CODEL | {"packets_in_c": 30, "packets_in_l": 80, "step_marks": 4}
    found = dualpi2.Queue.figures(end, begin)
    assert (found["l_queue_share"], found["step_marked_share"]) == (60 / 80, 3 / 60)
    assert dualpi2.Queue.figures(end, end)["l_queue_share"] is None


def test_the_policies_are_those_of_the_folder() -> None:
    found = cells.policies()
    assert found["sd"] == {"CQ_DISCARDS_REST", "CQ_NEEDS_R", "CQ_NEEDS_Z"}
    assert found["plain"] == {"0"}
    assert set(found) == {path.stem for path in cells.POLICIES.glob("*.h")}


def attribute(kind: int, value: bytes) -> bytes:
    return struct.pack("=HH", 4 + len(value), kind) + value + bytes(-len(value) % 4)


def test_a_counter_is_found_at_its_place_also_among_attributes() -> None:
    assert counter_at(struct.pack("=III", 1, 2, 3), (8,)) == 3
    tin = attribute(2, struct.pack("=I", 6)) + attribute(8, struct.pack("=I", 7))
    stats = attribute(3, b"x") + attribute(10, attribute(1, tin))
    assert counter_at(stats, cake.Queue.marks_at) == 7
    with pytest.raises(KeyError):
        counter_at(attribute(10, b""), cake.Queue.marks_at)
