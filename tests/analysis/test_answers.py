# SPDX-License-Identifier: GPL-2.0-only
"""How long answers took, in the report of a campaign that no study describes."""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import pytest

from analysis.records import Trial, read_campaign
from analysis.report.answers import answer_times_s
from analysis.report.build import build
from analysis.report.model import Gallery, Part, Plot, Sheet
from analysis.study import NONE, Study
from studies.ubrplus_1998.study import STUDY
from tests.analysis import synthetic


def campaign(folder: Path, cells: int, seeds: Sequence[int] = (1,)) -> Path:
    of = dict(islice(synthetic.paper_cells().items(), cells))
    return synthetic.write_campaign(folder, cells=of, seeds=seeds, with_series=True)


def reported(folder: Path, study: Study) -> tuple[list[Sheet], list[Plot]]:
    """The tables and the figures of answer times in a report's results."""
    report = build(read_campaign(folder), study, draw=False)
    [results] = [section for section in report.sections if section.id == "cells"]
    parts: list[Part] = [*results.parts, *(part for x in results.sections for part in x.parts)]
    plots = [plot for part in parts if isinstance(part, Gallery) for plot in part.plots]
    return (
        [x for x in parts if isinstance(x, Sheet) and x.name.startswith("quantiles-answer_time")],
        [x for x in plots if x.name.startswith("distribution-answer_time")],
    )


def median_s(trial: Trial) -> float:
    """The smallest time within which at least half of all requests had their answers."""
    with (trial.folder / "requests.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert any(not row["last_byte_ns"] for row in rows)
    taken = sorted(
        (int(row["last_byte_ns"]) - int(row["sent_ns"])) / 1e9 if row["last_byte_ns"] else math.inf
        for row in rows
    )
    return taken[math.ceil(len(taken) / 2) - 1]


def test_the_report_has_the_quantiles_of_each_combination(tmp_path: Path) -> None:
    folder = campaign(tmp_path, 2, seeds=(1, 2))
    [sheet], [plot] = reported(folder, NONE)
    names = [column.name for column in sheet.columns]
    trials = read_campaign(folder).trials
    for values in sheet.rows:
        row = dict(zip(names, values, strict=True))
        of = [one for one in trials if all(row[k] == str(v) for k, v in one.factors.items())]
        assert len(of) == 2 and row["values"] == 2 * 10 * synthetic.PAIRS
        assert row["q50"] == pytest.approx(sum(map(median_s, of)) / 2)
    assert len(sheet.rows) == 2 and plot.title == "Answer time (s)"


def test_a_study_says_itself_what_it_measures(tmp_path: Path) -> None:
    assert reported(campaign(tmp_path, 1), STUDY) == ([], [])


def test_many_combinations_have_a_table_alone(tmp_path: Path) -> None:
    [sheet], plots = reported(campaign(tmp_path, 11), NONE)
    assert len(sheet.rows) == 11 and plots == []


def test_a_trial_without_requests_has_no_times(tmp_path: Path) -> None:
    [trial] = read_campaign(campaign(tmp_path, 1)).trials
    assert answer_times_s(trial) is not None
    (trial.folder / "requests.csv").unlink()
    assert answer_times_s(trial) is None
