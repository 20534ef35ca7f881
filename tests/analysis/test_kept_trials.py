# SPDX-License-Identifier: GPL-2.0-only
"""Keeping a campaign in parts: a line a trial, and verdicts of all of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from analysis import kept_trials
from analysis.errors import ReportError
from analysis.kept import Kept
from analysis.records import read_campaign
from analysis.report.keep import keep
from harness.records.seal import seal
from studies.ubrplus_1998.study import STUDY
from tests.analysis import synthetic

WAN = {cell: values for cell, values in synthetic.paper_cells().items() if cell[0] == "WAN"}
COMMIT = "0123456789ab"


def recorded(folder: Path, *seeds: int) -> Path:
    synthetic.write_campaign(folder, cells=WAN, seeds=seeds)
    for trial in (folder / "trials").iterdir():
        seal(trial)
    return folder


def kept_of(campaign: Path, study: Path, *, replace_kept: bool = False) -> Path:
    return keep(read_campaign(campaign), STUDY, study, COMMIT, replace_kept=replace_kept)


def test_two_parts_are_the_whole(tmp_path: Path) -> None:
    """Cells and verdicts from kept lines are those from records."""
    whole = kept_of(recorded(tmp_path / "whole", 1, 2, 3), tmp_path / "one")
    for part, seeds in (("first", (1, 2)), ("second", (3,))):
        found = kept_of(recorded(tmp_path / part, *seeds), tmp_path / "two")
    for name in ("cells.csv", "claims.csv", "predictions.csv"):
        assert (found / name).read_text() == (whole / name).read_text(), name
    lines = kept_trials.read(found / kept_trials.FILE)
    assert len(lines) == 3 * len(WAN)
    assert {line.digest for line in lines} == {
        line.digest for line in kept_trials.read(whole / kept_trials.FILE)
    }
    assert Kept(tmp_path / "two" / "results").manifest("synthetic")["seeds"] == [1, 2, 3]


def test_every_digit_comes_back(tmp_path: Path) -> None:
    campaign = read_campaign(recorded(tmp_path / "campaign", 1))
    kept = kept_of(tmp_path / "campaign", tmp_path / "study")
    lines = {line.trial: line for line in kept_trials.read(kept / kept_trials.FILE)}
    for trial in campaign.trials:
        assert lines[trial.name] == kept_trials.kept(trial)


def test_a_trial_that_left_other_tables_is_not_kept_silently(tmp_path: Path) -> None:
    folder = recorded(tmp_path / "campaign", 1)
    kept = kept_of(folder, tmp_path / "study")
    before = (kept / kept_trials.FILE).read_text()
    changed = next((folder / "trials").iterdir())
    lab = json.loads((changed / "lab.json").read_text())
    (changed / "lab.json").write_text(json.dumps(lab | {"other": 1}))
    (changed / "SHA256SUMS").unlink()
    seal(changed)
    with pytest.raises(ReportError, match=r"has the digest \w+, but the new .* --replace"):
        kept_of(folder, tmp_path / "study")
    assert (kept / kept_trials.FILE).read_text() == before
    kept_of(folder, tmp_path / "study", replace_kept=True)
    assert (kept / kept_trials.FILE).read_text() != before


def test_a_kept_cell_that_was_not_run_again_is_named(tmp_path: Path) -> None:
    kept_of(recorded(tmp_path / "whole", 1), tmp_path / "study")
    part = recorded(tmp_path / "part", 2)
    for trial in (part / "trials").glob("*-vanilla-*"):
        trial.rename(tmp_path / trial.name)
    with pytest.raises(ReportError, match="no trial of the cell of the kept trial 'WAN Vanilla"):
        kept_of(part, tmp_path / "study")


def test_a_kept_cell_that_was_not_run_again_has_the_plan_of_the_experiment(tmp_path: Path) -> None:
    kept = kept_of(recorded(tmp_path / "whole", 1), tmp_path / "study")
    cells = (kept / "cells.csv").read_text()
    whole = read_campaign(tmp_path / "whole")
    part = recorded(tmp_path / "part", 1)
    for trial in (part / "trials").glob("*-vanilla-*"):
        trial.rename(tmp_path / trial.name)
    planned = {frozenset(trial.factors.items()): trial.plan for trial in whole.trials}
    keep(read_campaign(part), STUDY, tmp_path / "study", COMMIT, planned=planned)
    assert (kept / "cells.csv").read_text() == cells


def invalid(folder: Path, seed: int) -> Path:
    """A part whose trials of Vanilla are not valid."""
    for trial in (recorded(folder, seed) / "trials").glob("*-vanilla-*"):
        file = trial / "judgement.json"
        file.write_text(json.dumps(json.loads(file.read_text()) | {"valid": False}))
    return folder


def test_an_invalid_trial_gives_its_cell_the_plan(tmp_path: Path) -> None:
    """A later part may have no valid trial of a kept cell."""
    kept = kept_of(recorded(tmp_path / "whole", 1), tmp_path / "study")
    cells = (kept / "cells.csv").read_text()
    part = invalid(tmp_path / "part", 1)
    left_out = len(read_campaign(part).invalid)
    assert left_out
    for _ in range(2):  # the same part again counts nothing twice
        kept_of(part, tmp_path / "study")
    assert (kept / "cells.csv").read_text() == cells
    assert Kept(kept.parent).manifest("synthetic")["left_out"] == 0  # seed 1 was kept before
    kept_of(invalid(tmp_path / "more", 2), tmp_path / "study")
    assert Kept(kept.parent).manifest("synthetic")["left_out"] == left_out


def test_what_tells_of_the_machine_is_not_in_the_digest(tmp_path: Path) -> None:
    (trial,) = [next((recorded(tmp_path / "campaign", 1) / "trials").iterdir())]
    before = kept_trials.digest(trial)
    run = json.loads((trial / "run.json").read_text())
    (trial / "run.json").write_text(json.dumps(run | {"wall_s": 99.0}))
    (trial / "SHA256SUMS").unlink()
    seal(trial)
    assert kept_trials.digest(trial) == before
