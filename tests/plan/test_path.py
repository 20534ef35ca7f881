# SPDX-License-Identifier: GPL-2.0-only
"""Moving paths as data: what a file may have, and what a mistake in it is called."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.design import experiment
from harness.design.trials import planned
from plan import plan
from plan.errors import UsageError
from plan.path import MOST_US, Row, Way, longest_silence_us
from plan.path import Path as Moving
from plan.paths import csv
from plan.paths.site import Site
from plan.schema import to_json
from tests.small import TINY

RULE = '[[rule]]\nwhen = { flavor = "SACK" }\n'
STILL = Row(0, 10_000_000, 5_000, 0.0, 0)
HEAD = "time_s,rate_bit_per_s,down_delay_us,up_delay_us,loss,outage\n"


def read(folder: Path, text: str, **settings: object) -> Moving:
    (folder / "path.csv").write_text(text)
    wanted = csv.Settings(file="path.csv", **settings)
    return wanted.path(Site(folders=[folder], still=STILL))


def test_each_row_keeps_what_it_does_not_say(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        HEAD + "0.5,,20000,30000,,\n# a comment\n\n1.000001,5000000,,,0.25,1\n2,,7000,,0,0\n",
    )
    assert list(found.down.rows()) == [
        Row(0, 10_000_000, 5_000, 0.0, 0),
        Row(500_000, 10_000_000, 20_000, 0.0, 0),
        Row(1_000_001, 0, 20_000, 0.25, 0),
        Row(2_000_000, 5_000_000, 7_000, 0.0, 0),
    ]
    assert [row.delay_us for row in found.up.rows()] == [5_000, 30_000, 30_000, 30_000]


def test_a_column_of_one_direction_wins_over_that_of_both(tmp_path: Path) -> None:
    found = read(tmp_path, "down_delay_us,time_us,delay_us\n1,0,2\n,1,3\n")
    assert [row.delay_us for row in found.down.rows()] == [1, 3]
    assert [row.delay_us for row in found.up.rows()] == [2, 3]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("time_s,delay_ms\n0,1\n", "line 1: delay_ms: it must be one of time_us, time_s"),
        ("delay_us\n1\n", "line 1: the first row must name either time_us or time_s"),
        ("time_s,time_us\n0,0\n", "line 1: the first row must name either time_us or time_s"),
        ("time_s,loss,loss\n0,0,0\n", "line 1: loss: this column stands there twice"),
        (HEAD, "the file has no row with a time"),
        (HEAD + "0,1\n", "line 2: the row has 2 values, but the first row 6"),
        (HEAD + "0,,,,,\n0,,,,,\n", "line 3: the time 0 s must be after that of the row before"),
        (HEAD + "x,,,,,\n", "line 2: time_s = x: must be a number; allowed are 0 to 86_400"),
        (HEAD + "-1,,,,,\n", "line 2: time_s = -1: allowed are 0 to 86_400"),
        (HEAD + "0.0000001,,,,,\n", "line 2: time_s = 0.0000001: a time has at most whole micro"),
        (
            HEAD + "0,12,,,,\n",
            "rate_bit_per_s = 12: must be a whole number; allowed are 0 and 1_000",
        ),
        (
            HEAD + "0,2e6,,,,\n",
            "rate_bit_per_s = 2e6: must be a number; allowed are 0 to 1_000_000",
        ),
        (HEAD + "0,,1.5,,,\n", "down_delay_us = 1.5: must be a whole number of microseconds"),
        (HEAD + "0,,,99999999,,\n", "up_delay_us = 99999999: allowed are 0 to 10_000_000"),
        (HEAD + "0,,,,1.1,\n", "loss = 1.1: allowed are 0 to 1"),
        (HEAD + "0,,,,,yes\n", "outage = yes: must be 0 or 1"),
        ('time_s,loss\n0,"1\n', "this is no row of a CSV file"),
    ],
)
def test_a_mistake_is_named_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UsageError) as raised:
        read(tmp_path, text)
    assert str(raised.value).startswith("topology.path: path.csv")
    assert said in str(raised.value) and "\n" not in str(raised.value)


def test_a_path_that_carries_nothing_to_its_end_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="carries nothing for longer than 500 s"):
        read(tmp_path, "time_s,outage\n0,0\n5,1\n")
    assert read(tmp_path, "time_s,outage\n0,0\n5,1\n", period_s=6).period_us == 6_000_000


def test_the_longest_silence_goes_round_with_the_path() -> None:
    delays = {"delays_us": [0]}
    way = Way(times_us=[0, 10, 30], rates_bit_per_s=[0, 1000, 0], **delays)
    assert longest_silence_us(way, 0) == MOST_US
    assert longest_silence_us(way, 100) == 80  # from 30 on, and to 10 of the next round
    bits = Way(times_us=[0, 50], rates_bit_per_s=[0], bits=[8, 8], **delays)
    assert longest_silence_us(bits, 90) == 50


def test_a_period_ends_after_the_last_row(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"period_s = 5: must be after the last time of path.csv"):
        read(tmp_path, "time_s,delay_us\n0,1\n5,2\n", period_s=5)


def test_the_experiment_names_its_own_line_and_that_of_the_path(tmp_path: Path) -> None:
    (tmp_path / "path.csv").write_text("time_s,loss\n0,2\n")
    path = tmp_path / "tiny.toml"
    path.write_text(TINY + RULE + 'set.topology.path = "path.csv"\n')
    with pytest.raises(UsageError) as raised:
        planned(experiment.load(path), path)
    assert str(raised.value) == (
        f"{path}, line 13: topology.path: path.csv, line 2: loss = 2: allowed are 0 to 1"
    )


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ('set.topology.path = "none.csv"\n', "none.csv: there is no such file in"),
        ('set.topology.path = { kind = "csw", file = "a" }\n', "did you mean csv?"),
        ('set.topology.path = { kind = "csv" }\n', "topology.path.file: this key is missing"),
        (
            'set.topology = { path = "path.csv", loss = { share = 0.1 } }\n',
            "with it, topology.loss must be none",
        ),
        (
            'set.topology = { path = "path.csv", delay = "connection" }\n',
            "with it, topology.delay must be constant",
        ),
    ],
)
def test_what_does_not_go_with_a_path(tmp_path: Path, more: str, said: str) -> None:
    path = tmp_path / "tiny.toml"
    path.write_text(TINY + RULE + more)
    with pytest.raises(UsageError) as raised:
        planned(experiment.load(path), path)
    assert said in str(raised.value)


def test_a_plan_with_a_path_is_read_as_it_was_written(tmp_path: Path) -> None:
    (tmp_path / "path.csv").write_text("time_s,delay_us,loss\n0,1,\n1.5,2,0.5\n")
    path = tmp_path / "tiny.toml"
    queue = 'queue = { policy = "plain", buffer_cells = 300 }'
    text = TINY.replace(queue, 'queue = { kind = "drop-tail", limit_packets = 50 }')
    path.write_text(text + RULE + 'set.topology.path = "path.csv"\n')
    [trial] = planned(experiment.load(path), path)
    again = plan.from_json(plan.to_json(trial.plan))
    assert plan.to_json(again) == plan.to_json(trial.plan)
    assert list(again.topology.path.down.rows()) == list(trial.plan.topology.path.down.rows())


def test_a_still_plan_says_nothing_of_a_path(tmp_path: Path) -> None:
    path = tmp_path / "tiny.toml"
    path.write_text(TINY)
    [trial] = planned(experiment.load(path), path)
    assert "path" not in to_json(trial.plan.topology)
