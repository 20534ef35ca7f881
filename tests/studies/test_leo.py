# SPDX-License-Identifier: GPL-2.0-only
"""The study of handovers: its design, and what it measures of a trial."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path as File
from typing import Any

import pytest

from analysis import read_campaign
from analysis.kept import Kept
from analysis.records import Trial
from harness.design import experiment
from harness.design.trials import PlannedTrial, planned
from harness.judge import studies
from plan.atm import CELL_BITS, segment_cells
from plan.facts import TrialFacts, read
from plan.path import Path, Row, of_rows
from studies.leo import findings
from studies.leo.study import STUDY, efficiency, mean_rate_bit_per_s, use_after_handover
from tests.analysis import synthetic

FOLDER = studies.folder("leo")
S = 1_000_000


def trials_of(name: str) -> list[PlannedTrial]:
    file = FOLDER / f"{name}.toml"
    return planned(experiment.load(file), file)


@pytest.mark.parametrize("name", sorted(path.stem for path in FOLDER.glob("leo*.toml")))
def test_each_experiment_has_levels_of_the_study_alone(name: str) -> None:
    for trial in trials_of(name):
        assert trial.factors.keys() == STUDY.cell.keys()
        assert all(str(level) in STUDY.cell[factor] for factor, level in trial.factors.items())


@pytest.mark.parametrize("name", ["leo-single", "leo-path"])
def test_a_seed_draws_the_same_rates_and_delays_on_each_moving_path(name: str) -> None:
    paths: dict[int, set[Any]] = {}
    for trial in trials_of(name):
        if path := trial.plan.topology.path:
            rows = [row._replace(loss=0.0) for row in path.of_seed(trial.plan.seed).down.rows()]
            paths.setdefault(trial.plan.seed, set()).add(tuple(rows))
    assert {len(some) for some in paths.values()} == {1}
    assert len({one for some in paths.values() for one in some}) == len(paths) == 10


def test_the_buffer_of_one_flow_is_0_57_products_of_the_mean_rate_and_round_trip() -> None:
    """Its level is "0.5": half a product of packets of 1,500 bytes without cells."""
    for trial in trials_of("leo-single"):
        topology = trial.plan.topology
        product_bits = 0.75 * topology.rate_bit_per_s * 2 * topology.delay_ns / 1e9
        limit = trial.plan.queue.down.limit_packets
        assert limit * 32 * CELL_BITS / product_bits == pytest.approx(0.57, abs=0.005)
        assert limit * 1500 * 8 / product_bits == float(str(trial.factors["buffer"])) == 0.5


@pytest.fixture
def trial(tmp_path: File) -> Trial:
    """A made record on a path with handovers at 10, 30 and 50 s of 0.5 s, else of 8 Mbit/s."""
    cells = dict([*synthetic.paper_cells().items()][:1])
    synthetic.write_campaign(tmp_path, cells=cells, seeds=[1])
    [found] = read_campaign(tmp_path).trials
    rows = [Row(0, 8_000_000, 20_000, 0.0, 0)]
    for begin in (10, 30, 50):
        rows.append(Row(begin * S, 0, 30_000, 0.0, 0))
        rows.append(Row(begin * S + S // 2, 8_000_000, 30_000, 0.0, 0))
    way = of_rows(rows)
    topology = replace(found.plan.topology, path=Path(down=way, up=way))
    facts = read(TrialFacts, {"source": {"delivered_bytes": [50_000_000], "measured_s": 100.0}})
    return replace(found, facts=facts, plan=replace(found.plan, topology=topology))


def test_the_efficiency_is_of_what_the_moving_path_could_carry(trial: Trial) -> None:
    """4 Mbit/s of payload arrived; the path has 8 Mbit/s of cells, less the outages."""
    assert mean_rate_bit_per_s(trial.plan, 0, 20) == pytest.approx(8e6 * 19.5 / 20)
    mss = trial.plan.topology.mss_bytes
    payload_share = mss / (segment_cells(mss) * CELL_BITS / 8)
    assert efficiency(trial) == pytest.approx(4e6 / (8e6 * 98.5 / 100 * payload_share))
    path = trial.plan.topology.path
    assert path is not None
    double = of_rows(
        [row._replace(rate_bit_per_s=2 * row.rate_bit_per_s) for row in path.down.rows()]
    )
    topology = replace(trial.plan.topology, path=replace(path, down=double))
    faster = replace(trial, plan=replace(trial.plan, topology=topology))
    assert efficiency(faster) == pytest.approx(efficiency(trial) / 2, rel=1e-6)


def test_the_seconds_after_a_handover_are_compared_with_those_before_the_next(trial: Trial) -> None:
    """1,000,000 bytes a second at all times but three seconds after each handover: half of it."""
    lines, total = ["time_ns,pair,ip_bytes"], 0
    for second in range(101):
        lines.append(f"{second * 1_000_000_000},1,{total}")
        total += 500_000 if any(0 <= second - begin < 3 for begin in (10, 30, 50)) else 1_000_000
    (trial.folder / "throughput.csv").write_text("\n".join(lines) + "\n")
    # After: 1.5 MB of 2.5 s at 8 Mbit/s; before: all.
    assert use_after_handover(trial) == pytest.approx(1.5 / 2.5 - 1)
    still = replace(trial.plan, topology=replace(trial.plan.topology, path=None))
    assert use_after_handover(replace(trial, plan=still)) is None


def test_the_trials_above_1_are_counted_in_all_campaigns() -> None:
    """From the text of the lines alone."""
    files = (FOLDER / "results").glob("*/trials.csv")
    rows = [row for file in files for row in csv.DictReader(file.open(encoding="utf-8"))]
    found = findings.above(Kept(FOLDER / "results"))
    over = sorted((row["efficiency"] for row in rows if float(row["efficiency"]) > 1), key=float)
    assert (found["trials"], found["above"]) == (len(rows), len(over))
    assert found["most"] == float(over[-1])
