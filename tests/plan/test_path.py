# SPDX-License-Identifier: GPL-2.0-only
"""Moving paths as data: what a file may have, and what a mistake in it is called."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from harness.design import experiment
from harness.design.trials import planned
from plan import plan
from plan.errors import UsageError
from plan.path import Path as Moving
from plan.path import Row, Way, longest_silence_us
from plan.paths import csv, gauss_markov, leo, mahimahi, starlink
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
        ("time_s,delay_ms\n0,1\n", "line 1: there is no column delay_ms; it must be one of ti"),
        ("delay_us\n1\n", "line 1: the first row must name either time_us or time_s"),
        ("time_s,time_us\n0,0\n", "line 1: the first row must name either time_us or time_s"),
        ("time_s,loss,loss\n0,0,0\n", "line 1: loss: this column stands there twice"),
        (HEAD, "the file has no row with a time"),
        (HEAD + "0,1\n", "line 2: the row has 2 values, but the first row has 6"),
        (HEAD + "0,,,,,\n0,,,,,\n", "line 3: the time 0 s must be after that of the row before"),
        (HEAD + "x,,,,,\n", "line 2: time_s = x: must be a number in digits, without _ or e"),
        (HEAD + "-1,,,,,\n", "line 2: time_s = -1: allowed are 0 to 86_400"),
        (HEAD + "0.0000001,,,,,\n", "line 2: time_s = 0.0000001: a time has at most whole micro"),
        (
            HEAD + "0,12,,,,\n",
            "rate_bit_per_s = 12: must be a whole number; allowed are 0, or 1_000",
        ),
        (
            HEAD + "0,2e6,,,,\n",
            "rate_bit_per_s = 2e6: must be a number in digits, without _ or e",
        ),
        (HEAD + "0,,1.5,,,\n", "down_delay_us = 1.5: must be a whole number of microseconds"),
        (HEAD + "0,,,99999999,,\n", "up_delay_us = 99999999: allowed are 0 to 10_000_000"),
        (HEAD + "0,,,,1.1,\n", "loss = 1.1: allowed are 0 to 1"),
        (HEAD + "0,,,,,yes\n", "outage = yes: must be 0 or 1"),
        (
            "time_s,rate_bit_per_s\n0,\u0663\u0660\u0660\u0660\n",
            "must be a number in digits, without _ or e",
        ),
        pytest.param(
            f"time_s,{'a' * 100_000}\n0,1\n",
            f"line 1: there is no column {'a' * 40}...; it must be one of ti",
            id="long column",
        ),
        pytest.param(
            f"time_s,loss\n0,{'0' * 200_000}\n",
            "line 2: a value has more than 131_072 letters",
            id="long value",
        ),
        (f"time_s,outage\n0,{'0' * 50}\n", f"line 2: outage = {'0' * 40}...: must be 0 or 1"),
        ('time_s,loss\n0,"1\n', "this is no row of a CSV file: a value needs no quotes"),
        ("", "path.csv: the file is empty; its first row must name the columns"),
        ("0,45000000\n1,45000000\n", "line 1: the first row must name the columns"),
        ("time_s;loss\n0;0\n", "; write a comma in place of ;"),
        (
            "time_s,loss\n0\t0\n",
            "the row has 1 value, but the first row has 2; write a comma in place",
        ),
        ("time_s,rate\n0,1\n", "did you mean rate_bit_per_s?"),
        (f"time_s,loss\n{'9' * 200},0\n", "9...: allowed are 0 to 86_400"),
        ("time_s,loss\n,0\n", 'time_s = "": must be a number'),
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
    assert read(tmp_path, "time_s,outage\n0,0\n5,1\n", period_s=6).up.period_us == 6_000_000


@pytest.mark.parametrize("rows", ["0,150000000\n80000,1000", "0,300000000\n80000,1000"])
def test_more_work_than_has_room_is_refused(tmp_path: Path, rows: str) -> None:
    """bpf/path.h counts it in millionths of a bit, and compares 63 bits."""
    with pytest.raises(ValueError, match="leave out rows behind the trial's end"):
        read(tmp_path, f"time_s,rate_bit_per_s\n{rows}\n")
    with pytest.raises(ValueError, match="leave out rows behind the trial's end"):
        read(tmp_path, "time_s,rate_bit_per_s\n0,150000000\n", period_s=80000)
    assert read(tmp_path, "time_s,rate_bit_per_s\n0,150000000\n30000,1000\n")


def test_the_longest_silence_goes_round_with_the_path() -> None:
    delays = {"delays_us": [0]}
    way = Way(times_us=[0, 10, 30], rates_bit_per_s=[0, 1000, 0], period_us=100, **delays)
    assert longest_silence_us(way) == 80  # from 30 on, and to 10 of the next round
    bits = Way(times_us=[0, 50], rates_bit_per_s=[0], bits=[8, 8], period_us=90, **delays)
    assert longest_silence_us(bits) == 50


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


# ---- other kinds of path ----

SITE_STILL = Row(0, 12_000_000, 5_000, 0.0, 0)


def site(folder: Path) -> Site:
    return Site(folders=[folder], still=SITE_STILL)


def test_mahimahi_s_opportunities_are_those_of_the_trace(tmp_path: Path) -> None:
    """Its LinkQueue begins anew at the last time, which is the next round's time 0."""
    (tmp_path / "down").write_text("1\n1\n4\n")
    (tmp_path / "up").write_text("0\n2\n")
    found = mahimahi.Settings(down="down", up="up", loss=0.25).path(site(tmp_path))
    assert found.overhead_bytes == 4 and found.down.period_us == 4_000
    opportunity = 1504 * 8
    assert list(found.down.rows()) == [
        Row(0, 0, 5_000, 0.25, opportunity),
        Row(1_000, 0, 5_000, 0.25, 2 * opportunity),
    ]
    assert list(found.up.rows()) == [Row(0, 0, 5_000, 0.25, 2 * opportunity)]
    assert found.up.period_us == 2_000


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1\n\n2\n", "down, line 2: the line is empty: must be a whole number of milliseconds"),
        ("1\n2.5\n", "down, line 2: 2.5: must be a whole number of milliseconds; allowed are 0 to"),
        (f"1\n{'9' * 5000}\n", f"down, line 2: {'9' * 40}...: must be a whole number of millisec"),
        ("3\n2\n", "down, line 2: 2: must not be before the time of the line above, 3"),
        ("0\n", "down: the file must end with a time after 0 ms"),
        ("", "down: the file must end with a time after 0 ms"),
    ],
)
def test_a_mistake_in_a_trace_is_named_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "down").write_text(text)
    with pytest.raises(UsageError) as raised:
        mahimahi.Settings(down="down", up="down").path(site(tmp_path))
    assert str(raised.value).startswith(f"topology.path: {said}")


def test_opportunities_need_a_queue_of_packets(tmp_path: Path) -> None:
    (tmp_path / "trace").write_text("1\n")
    path = tmp_path / "tiny.toml"
    table = '{ kind = "mahimahi", down = "trace", up = "trace" }'
    path.write_text(TINY + RULE + f"set.topology.path = {table}\n")
    with pytest.raises(UsageError, match=r"counts bytes of packets, and queue.kind = cells counts"):
        planned(experiment.load(path), path)


def test_losses_of_starlink_change_no_draw(tmp_path: Path) -> None:
    """The seed draws the same rates and delays; each row of both ways loses the share."""
    without, lossy = (
        starlink.Settings(duration_s=60, loss=loss).path(site(tmp_path)).of_seed(3)
        for loss in (0.0, 0.01)
    )
    for way in ("down", "up"):
        rows = list(lossy.way(way).rows())
        assert {row.loss for row in rows} == {0.01}
        assert [row._replace(loss=0.0) for row in rows] == list(without.way(way).rows())


def test_a_handover_each_15_s_is_drawn_from_the_seed(tmp_path: Path) -> None:
    drawn = starlink.Settings(duration_s=60).path(site(tmp_path))
    assert drawn.of_seed(1) == drawn.of_seed(1) != drawn.of_seed(2)
    rows = list(drawn.of_seed(1).down.rows())
    handovers = [row.time_us for row in rows if not row.rate_bit_per_s]
    assert handovers == [15_000_000, 30_000_000, 45_000_000]
    assert [row.time_us for row in rows if row.rate_bit_per_s] == [
        0, 15_050_000, 30_050_000, 45_050_000
    ]  # fmt: skip
    assert all(15_000 <= row.delay_us <= 35_000 for row in rows)
    assert all(6_000_000 <= row.rate_bit_per_s <= 12_000_000 for row in rows[::2])


def test_a_gauss_markov_link_has_its_mean_deviation_and_memory(tmp_path: Path) -> None:
    settings = gauss_markov.Settings(
        deviation_bit_per_s=2_000_000, memory_us=100_000, duration_s=2_000
    )
    rates = np.array([row.rate_bit_per_s for row in settings.path(site(tmp_path)).down.rows()])
    assert len(rates) == 200_000
    # Of 20,000 memories; four standard errors of the mean are 80,000 bit/s.
    assert abs(rates.mean() - 12_000_000) < 80_000
    assert abs(rates.std() - 2_000_000) < 60_000
    apart = np.corrcoef(rates[:-10], rates[10:])[0, 1]  # 100 ms
    assert abs(apart - np.exp(-1)) < 0.03


def test_a_pass_has_the_geometry_of_its_orbit(tmp_path: Path) -> None:
    found = leo.Settings(stations_us=0, outage_us=0).path(site(tmp_path))
    delays = [row.delay_us for row in found.down.rows()]
    # At the zenith twice 550 km; a circular orbit at this height takes 95.6 minutes.
    assert abs(min(delays) - 2 * 550 / 299_792.458 * 1e6) <= 1
    assert abs(found.down.period_us * 22 / 60e6 - 95.6) < 0.1
    # At half of the distance, 8.18 degrees from the zenith as seen from the centre.
    assert abs(delays[0] - 2 * leo.slant(6_921.0, np.pi / 22) / 299_792.458 * 1e6) <= 1
    with pytest.raises(ValueError, match="a satellite would be below the horizon"):
        leo.Settings(satellites=4).path(site(tmp_path))


def test_each_trial_has_the_path_of_its_seed(tmp_path: Path) -> None:
    path = tmp_path / "tiny.toml"
    path.write_text(TINY + RULE + 'set.topology.path = { kind = "starlink", duration_s = 60 }\n')
    one, two = planned(experiment.load(path), path, seeds=2)
    assert one.plan.topology.path != two.plan.topology.path
    [again] = planned(experiment.load(path), path, seeds=1)
    assert again.name == one.name
