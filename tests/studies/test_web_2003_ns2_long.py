# SPDX-License-Identifier: GPL-2.0-only
"""The tables of long trials in the kernel and in ns-2, of made lines."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from analysis.kept import Kept
from studies.web_2003.changes import sure, told
from studies.web_2003.ns2 import long, long_numbers
from studies.web_2003.ns2.long import Cell, Lines
from studies.web_2003.ns2.tables import PLAN, QUEUES
from studies.web_2003.ns2.witness import LONG, SHORT

FIGURES = dict.fromkeys((*long.FIGURES, *long.CHANGED))


def write(path: Path, rows: list[dict[str, object]]) -> None:
    path.parent.mkdir(exist_ok=True)
    with path.open("w", newline="") as stream:
        table = csv.DictWriter(stream, list(rows[0]))
        table.writeheader()
        table.writerows(rows)


def line(load: str, queue: str, seed: int, value: float, **more: object) -> dict[str, object]:
    """A line of SACK whose figures are all the same, but for `more`."""
    levels = {"load": load, "sender": "SACK", "queue": queue, "seed": seed, "variant": PLAN}
    return {**levels, **dict.fromkeys(FIGURES, value), **more}


KERNEL = {"drop-tail": 1, "ARED": 2, "ARED+ECN": 1, "ARED as in ns-2": 4, "ARED+ECN as in ns-2": 5}
NS_2 = {"drop-tail": 1.5, "ARED as in ns-2": 1, "ARED+ECN as in ns-2": 2}


@pytest.fixture
def kept(tmp_path: Path) -> Kept:
    """Two seeds of each load, and a third of which ns-2 has one queue only. A seed's figures are
    ten times those of the seed before.

    Long, the kernel's drop tail has no 99th percentile with seed 1. Short, all is a hundredth.
    """
    for experiment, part in ((LONG, 1.0), (SHORT, 0.01)):
        infinite = {"p99_ms": ""} if experiment == LONG else {}
        write(
            tmp_path / experiment / "trials.csv",
            [line(load, queue, seed, part * value * 10 ** (seed - 1),
                  **(infinite if (queue, seed) == ("drop-tail", 1) else {}))
             for load in long.LOADS for queue, value in KERNEL.items() for seed in (1, 2, 3)],
        )  # fmt: skip
        write(
            tmp_path / experiment / "ns-2.csv",
            [line(load, queue, seed, part * value * 10 ** (seed - 1))
             for load in long.LOADS for queue, value in NS_2.items() for seed in (1, 2)]
            + [line("105", "drop-tail", 3, 7), line("105", "drop-tail", 1, 7, variant="Nagle")],
        )  # fmt: skip
    return Kept(tmp_path)


def test_a_seed_counts_that_both_programs_have_with_all_queues(kept: Kept) -> None:
    lines = Lines(kept, LONG)
    assert lines.seeds("105", "SACK") == [1, 2]
    assert lines.seeds("80", "SACK") == [1, 2] and not lines.seeds("105", "Reno")
    assert list(long.places(lines)) == [("80", "SACK"), ("105", "SACK")]


def test_the_programs_stand_one_below_the_other(kept: Kept) -> None:
    found = [list(row[2:7]) for row in long.side_by_side(kept).rows]
    assert found[:3] == [
        ["drop-tail", "the kernel", 2, 5.5, 5.5],
        ["drop-tail", "ns-2", 2, 8.25, 8.25],
        ["ARED", "the kernel, Linux's ARED", 2, 11, 11],
    ]
    assert [row[1] for row in found[3:5]] == ["the kernel, ns-2's ARED", "ns-2"]
    assert [row[3] for row in found[3:5]] == [22, 5.5]
    assert [row[7] for row in long.side_by_side(kept).rows[:2]] == ["infinite in 1 of 2", 8.25]


def test_a_distance_is_ns_2_s_from_the_kernel_s_with_this_queue(kept: Kept) -> None:
    """All seeds have the same ratio, so the interval is a point."""
    rows = [list(row) for row in long.distances(kept).rows]
    assert [row[2:5] for row in rows[:2]] == [
        ["drop-tail", "10,000", 2],
        ["drop-tail", "250,000", 2],
    ]
    medians = {row[2]: row[5] for row in rows if row[3] == "250,000"}
    assert medians == {
        "drop-tail": "+50 % (+50 % to +50 %)",
        "ARED as in ns-2": "−75 % (−75 % to −75 %)",
        "ARED+ECN as in ns-2": "−60 % (−60 % to −60 %)",
        "ARED": "−50 % (−50 % to −50 %)",
        "ARED+ECN": "+100 % (+100 % to +100 %)",
    }
    assert medians.keys() == QUEUES.keys()
    assert [row[7] for row in rows[:2]] == ["+50 % (+50 % to +50 %)", None]


def test_an_effect_is_of_two_queues_of_one_program(kept: Kept) -> None:
    """ECN halves Linux's times and adds a quarter to those of ns-2's rule; in ns-2 it doubles."""
    lines = Lines(kept, LONG)
    found = [long.effect(lines, "ECN with ARED", "median_ms", name) for name in long.PROGRAMS]
    assert [told(one)[:5] for one in found if one] == ["−50 %", "+25 %", "+100 "]
    assert (
        long.effect(lines, "ARED in place of drop tail", "p99_ms", "the kernel, ns-2's ARED")
        is None
    )
    [first, *_] = [list(row) for row in long.effects(kept).rows]
    assert first[:2] == ["ARED in place of drop tail", "25 %"]
    assert first[2:4] == ["+100 % (+100 % to +100 %)"] * 2
    assert len(first) == 2 + 2 * len(long.PROGRAMS)


def test_an_interval_that_has_no_change_is_not_sure(kept: Kept) -> None:
    lines = Lines(kept, LONG)
    one = lines.change("median_ms", Cell("ns-2", "105", "SACK", "drop-tail"),
                       Cell("ns-2", "105", "SACK", "drop-tail"))  # fmt: skip
    assert one is not None and not sure(one)


def test_a_sentence_has_the_numbers_of_the_tables(kept: Kept) -> None:
    """Each part is a ratio of two of KERNEL and NS_2; unfinished_share is in per cent."""
    found = long_numbers.numbers(kept)
    assert (found["runs"], found["seeds_80"], found["seeds_105"]) == (13, 2, 2)
    assert "2 seeds, paired" in str(found["how_105"])
    assert found["tail_105"] == pytest.approx(50)
    assert found["rule_80"] == pytest.approx((75 + 60) / 2)
    changes = {
        "ared": "−50 %", "ecn": "+100 %", "p25_rule": "+300 %", "p25_ns_2": "−33 %",
    }  # fmt: skip
    for name, text in changes.items():
        for when in ("short", "long"):
            assert str(found[f"{name}_{when}"]).startswith(text + " (")
            assert found[f"{name}_{when}_percent"] == text
    assert found["sign_sure"] == 4
    assert (found["lost_kernel"], found["lost_ns_2"]) == (550, 825)
