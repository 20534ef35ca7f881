# SPDX-License-Identifier: GPL-2.0-only
"""Measured against predicted, seed by seed; steps of a path, each against the one before."""

import csv
import json
from dataclasses import replace
from pathlib import Path

import pytest

from analysis.cells import Cell
from analysis.claims import claims_of
from analysis.predictions import against, mean_absolute_difference
from analysis.records import read_campaign
from analysis.report import write_report
from analysis.report.pages import pages_of
from analysis.study import Prediction
from studies.ubrplus_1998.simulation import simulated
from studies.ubrplus_1998.study import STUDY
from tests import made_plans
from tests.analysis import synthetic

MODEL = Prediction(name="model", of=lambda levels, plan, seed: {"efficiency": PREDICTED[seed]})
PREDICTED = {1: 0.5, 2: 0.7, 3: 0.9}
CELL = ("WAN", "SACK", "EPD", 0.5)


def cell(values: dict[int, float]) -> Cell:
    return Cell(
        levels={"network": "WAN"}, metrics={"efficiency": values}, planned=made_plans.plan()
    )


def test_differences_are_those_of_the_same_seed() -> None:
    [found] = against([cell({1: 0.6, 3: 0.8})], MODEL, "efficiency")
    assert found.predicted == pytest.approx(0.7)
    assert found.difference.mean == pytest.approx(0) and found.difference.n == 2
    assert found.apart is False
    [other] = against([cell({2: 0.9})], MODEL, "efficiency")
    assert other.apart is None
    assert mean_absolute_difference([found, other]) == pytest.approx(0.1)


def test_an_interval_without_0_is_apart() -> None:
    [found] = against([cell({1: 0.6, 2: 0.8, 3: 1.0})], MODEL, "efficiency")
    assert found.difference.mean == pytest.approx(0.1) and found.apart is True


def test_what_is_not_predicted_is_left_out() -> None:
    nothing = Prediction(name="none", of=lambda levels, plan, seed: None)
    assert against([cell({1: 0.6})], nothing, "efficiency") == ()
    assert against([cell({1: 0.6})], MODEL, "fairness") == ()


def table(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def test_a_report_has_the_simulation_beside_the_cells(tmp_path: Path) -> None:
    synthetic.write_campaign(tmp_path, seeds=[1, 2], cells={CELL: (0.8, 0.7)})
    written = write_report(read_campaign(tmp_path), STUDY)
    rows = table(written.tables / "predictions.csv")
    assert [(r["prediction"], r["response"], r["cells"]) for r in rows] == [
        (prediction, response, "1")
        for prediction in ("literal", "model")
        for response in ("efficiency", "fairness")
    ]
    [line] = table(written.tables / "predicted-literal-wan.csv")
    theirs = [
        simulated()["literal", "WAN", "EPD", "SACK", "531", seed]["efficiency"] for seed in "12"
    ]
    assert float(line["efficiency_predicted"]) == pytest.approx(sum(theirs) / 2)


def test_every_variant_has_its_claims_and_predictions(tmp_path: Path) -> None:
    wan = {c: v for c, v in synthetic.paper_cells().items() if c[0] == "WAN"}
    extra = [{"reading": "a"}, {"reading": "b"}]
    synthetic.write_campaign(tmp_path, seeds=[1, 2], noise=0.02, cells=wan, extra_factors=extra)
    for path in (tmp_path / "trials").glob("wan-sack-*-b-*/judgement.json"):
        document = json.loads(path.read_text())
        document["metrics"]["efficiency"] = 0.1
        path.write_text(json.dumps(document))
    tables = write_report(read_campaign(tmp_path), STUDY).tables
    first, other = table(tables / "verdicts-by-variant.csv")
    assert (first["variant"], first["other"]) == ("reading=a", "0")
    assert int(other["fails"]) > int(first["fails"]) and int(other["other"]) > 0
    verdicts = {row["id"]: row for row in table(tables / "claims-by-variant.csv")}
    assert len(verdicts) == len(claims_of(STUDY, pages_of(STUDY).checks))
    alike = verdicts["wan-efficiency-newreno-sack-alike"]
    assert (alike["reading=a"], alike["reading=b"]) == ("holds", "does not hold")
    predicted = table(tables / "predictions.csv")
    assert {row["variant"] for row in predicted} == {"reading=a", "reading=b"}


def test_steps_of_a_path_are_against_the_one_before(tmp_path: Path) -> None:
    extra = [{"cause": "a"}, {"cause": "b", "x": 1}, {"cause": "c", "x": 1, "y": 1}]
    synthetic.write_campaign(
        tmp_path, seeds=[1], noise=0, shift=0.01, cells={CELL: (0.8, 0.7)}, extra_factors=extra
    )
    campaign = read_campaign(tmp_path)
    for study, effects in ((STUDY, [0.01, 0.02]), (replace(STUDY, path="cause"), [0.01, 0.01])):
        first, *steps = table(write_report(campaign, study).tables / "variants.csv")
        assert first["efficiency_effect"] == ""
        assert [float(step["efficiency_effect"]) for step in steps] == pytest.approx(effects)
