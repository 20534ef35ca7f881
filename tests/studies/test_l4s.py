# SPDX-License-Identifier: GPL-2.0-only
"""The study of the dual queue: its design, and what it measures of a trial."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from analysis import read_campaign
from analysis.claims import Verdict, claims_of
from analysis.kept import Kept
from analysis.records import Trial
from analysis.report import trial_plots
from harness.design import experiment
from harness.design.trials import PlannedTrial, planned
from harness.judge import studies
from plan.facts import TrialFacts, read
from studies.l4s import by_trip, study
from tests.analysis import synthetic

FOLDER = studies.folder("l4s")
SEEDS = {"l4s-prague": 5, "l4s-two": 5}
OF_PAIRS = {"l4s-two": [(1, 2), ()]}


def trials_of(name: str) -> list[PlannedTrial]:
    file = FOLDER / f"{name}.toml"
    return planned(experiment.load(file), file)


@pytest.mark.parametrize("name", sorted(path.stem for path in FOLDER.glob("l4s*.toml")))
def test_each_experiment_has_levels_of_the_study_and_ten_seeds(name: str) -> None:
    """Prague's file of the kernel is not here, and its experiment has five seeds."""
    trials = trials_of(name)
    assert {trial.plan.seed for trial in trials} == set(range(1, SEEDS.get(name, 10) + 1))
    for trial in trials:
        levels = {factor: str(trial.factors[factor]) for factor in study.STUDY.cell}
        assert all(level in study.STUDY.cell[factor] for factor, level in levels.items())
        pairs = [study.pairs_of(trial.plan, sender) for sender in ("low", "classic")]
        assert pairs == OF_PAIRS.get(name, [(1,), (2,)])


def test_prague_is_in_the_place_of_dctcp() -> None:
    """With the same round trip, the plans differ in the sender and in what the L queue takes."""
    trials = {
        (str(one.factors["sender"]), str(one.factors["trip"])): one.plan
        for one in trials_of("l4s-prague")
        if one.plan.seed == 1
    }
    for trip in ("8 ms", "16 ms", "32 ms"):
        dctcp, prague = trials["DCTCP", trip], trials["Prague", trip]
        for part in ("topology", "workload", "record"):
            assert getattr(prague, part) == getattr(dctcp, part)
        assert prague.tcp.of_pair(2) == dctcp.tcp.of_pair(2)
        assert prague.tcp.of_pair(1).flavor.congestion == "prague"
        down = prague.queue.down, dctcp.queue.down
        assert [getattr(queue, "l_queue", "") for queue in down] == ["ect1", "any-ect"]
    [first] = [one.plan for one in trials_of("l4s")[:1]]
    same = trials["DCTCP", "8 ms"]
    for part in ("topology", "queue", "tcp", "workload", "record"):
        assert getattr(same, part) == getattr(first, part)


@pytest.fixture
def trial(tmp_path: Path) -> Trial:
    """A made record of the first cell: DCTCP has 20 Mbit/s, CUBIC 10; the idle round trip is 8 ms.

    Packets of DCTCP wait for 1 ms, packets of CUBIC for 16 ms.
    """
    cells = dict([*synthetic.paper_cells().items()][:1])
    synthetic.write_campaign(tmp_path, cells=cells, seeds=[1])
    [found] = read_campaign(tmp_path).trials
    source = {"delivered_bytes": [20_000_000, 10_000_000], "measured_s": 8.0}
    facts = {
        "source": source,
        "expected_idle_round_trip_ns": 8e6,
        "queue": {"down": {"sent": 75, "drops": 25}},
    }
    plan = trials_of("l4s")[0].plan
    return replace(found, facts=read(TrialFacts, facts), plan=plan)


def write(trial: Trial, rows: list[tuple[float, str, int, float]]) -> None:
    """sojourn.csv: the second at which a packet left, its port, its pair, its time [ms]."""
    lines = ["time_ns,port,pair,ip_bytes,ecn,sojourn_ns"]
    lines += [f"{s * 1e9:.0f},{port},{pair},1500,2,{ms * 1e6:.0f}" for s, port, pair, ms in rows]
    (trial.folder / "sojourn.csv").write_text("\n".join(lines) + "\n")


def test_delays_are_of_the_measured_interval_and_the_right_sender(trial: Trial) -> None:
    """Neither slow start, nor the other direction, nor what left after the end counts."""
    others = [(3.9, "down", 1, 99.0), (5.0, "up", 1, 99.0), (12.0, "down", 1, 99.0)]
    write(trial, [*others, (4.0, "down", 1, 1.0), (6.0, "down", 2, 16.0), (11.0, "down", 1, 3.0)])
    assert study.delays_ms(trial, "low").tolist() == [1.0, 3.0]
    assert study.delays_ms(trial, "classic").tolist() == [16.0]


def test_mean_median_and_percentile(trial: Trial) -> None:
    write(trial, [(5.0, "down", 1, float(ms)) for ms in range(101)])
    figures = {one.name: one.measure(trial) for one in study.STUDY.measured}
    assert [figures[f"low_{name}_ms"] for name in ("mean", "median", "p99")] == [50, 50, 99]
    assert figures["classic_mean_ms"] is None  # no packet of CUBIC left


def test_the_ratio_of_rates_is_that_of_windows_times_that_of_round_trips(trial: Trial) -> None:
    write(trial, [(5.0, "down", 1, 1.0), (5.0, "down", 2, 16.0)])
    assert study.rate_ratio(trial) == pytest.approx(2)
    assert study.round_trip_ratio(trial) == pytest.approx(24 / 9)
    assert study.window_ratio(trial) == pytest.approx(2 * 9 / 24)
    assert study.dropped_percent(trial) == 25


def test_of_two_scalable_flows_the_rates_are_compared_and_no_ratio_is_made_up(trial: Trial) -> None:
    write(trial, [(5.0, "down", 1, 1.0), (5.0, "down", 2, 3.0)])
    assert study.uneven(trial) is None  # one flow of DCTCP, one of CUBIC
    two = replace(trial, plan=trials_of("l4s-two")[0].plan)
    assert study.uneven(two) == pytest.approx(2)
    assert study.delays_ms(two, "low").tolist() == [1.0, 3.0]
    assert study.rate_ratio(two) is study.window_ratio(two) is None


def test_what_dctcp_sent_again_is_counted(trial: Trial) -> None:
    (trial.folder / "flows.csv").write_text("pair,retransmits\n1,3\n2,50\n")
    assert study.sent_again(trial) == 3


def test_a_report_draws_the_times_in_the_queue(trial: Trial) -> None:
    assert trial_plots.sojourns(trial) is None  # they were not recorded
    write(trial, [(3.0, "down", 1, 99.0), (5.0, "down", 1, 2.0), (6.0, "down", 2, 16.0)])
    drawing = trial_plots.sojourns(trial)
    assert drawing is not None
    assert drawing.alt.endswith("pair 1, dctcp 2.00 and 2.00; pair 2, cubic 16.00 and 16.00.")
    assert "<svg" in trial_plots.plot(trial, drawing).svg


def test_the_limits_of_dctcp_judge_each_sender_with_each_round_trip(tmp_path: Path) -> None:
    """Prague keeps 2 ms with one round trip; with the other, one of the seeds is far above."""
    (tmp_path / by_trip.CAMPAIGN).mkdir()
    head = "sender,trip,seed,trial,plan,digest,virtual_s,wall_s,ended,low_p99_ms"
    delays = {("Prague", "8 ms"): (1.0, 1.1, 1.2), ("Prague", "16 ms"): (1.0, 1.1, 9.0)}
    rows = [
        f"{sender},{trip},{seed},x,x,x,1,1,,{value}"
        for (sender, trip), values in delays.items()
        for seed, value in enumerate(values, 1)
    ]
    file = tmp_path / by_trip.CAMPAIGN / "trials.csv"
    file.write_text("\n".join([head, *rows]) + "\n")
    some = by_trip.cells(Kept(tmp_path))
    [claim] = [one for one in claims_of(study.STUDY) if one.id == "low-p99"]
    assert by_trip.trips(some) == ["8 ms", "16 ms"] and by_trip.limits(claim) == "≤ 2"
    verdicts = [by_trip.judged(claim, some, "Prague", trip) for trip in by_trip.trips(some)]
    assert verdicts == [Verdict.HOLDS, Verdict.UNDECIDED]
    assert by_trip.text(claim, some, "Prague", "8 ms", ".2f") == "1.10 ± 0.25, holds"


def test_the_worst_round_trip_of_a_sender_is_named(tmp_path: Path) -> None:
    """A ratio of the rates of 0.4 is farther from 1 than a ratio of 2."""
    (tmp_path / by_trip.CAMPAIGN).mkdir()
    head = "sender,trip,seed,trial,plan,digest,virtual_s,wall_s,ended,low_p99_ms,rate_ratio"
    of = {"8 ms": [(1.4, 2.0), (1.4, 2.0)], "16 ms": [(1.0, 0.39), (1.1, 0.41)]}
    rows = [
        f"Prague,{trip},{seed},x,x,x,1,1,,{p99},{ratio}"
        for trip, some in of.items()
        for seed, (p99, ratio) in enumerate(some, 1)
    ]
    file = tmp_path / by_trip.CAMPAIGN / "trials.csv"
    file.write_text("\n".join([head, *rows]) + "\n")
    cells = by_trip.cells(Kept(tmp_path))
    found = by_trip.worst(cells, "Prague")
    assert (found["prague_worst_p99_trip"], found["prague_worst_p99"]) == ("8 ms", 1.4)
    assert found["prague_worst_rates_trip"] == "16 ms"
    assert found["prague_worst_rates"] == pytest.approx(0.4)
    assert by_trip.values(cells, "Prague") == {
        "prague_p99_values_least": 1, "prague_p99_values_most": 2
    }  # fmt: skip


def test_each_limit_of_the_table_is_a_claim() -> None:
    known = {claim.id for claim in claims_of(study.STUDY)}
    assert {name for name, _, _ in by_trip.LIMITS} <= known
