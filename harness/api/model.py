# SPDX-License-Identifier: GPL-2.0-only
"""The trials of an experiment as its study's model computes them, a line each, in a CSV file."""

from __future__ import annotations

import csv
import importlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from analysis.study import Model
from analysis.table import read_csv
from harness.design import experiment
from harness.design.trials import PlannedTrial, planned
from harness.judge import studies
from plan.errors import UsageError


def compute(file: Path, only: Sequence[str], seeds: int | None, out: Path) -> Iterator[str]:
    """Append the trials that `out` does not have; each line as it is written.

    Columns are the factors, the seed and the responses.

    Raises:
        UsageError: the experiment's study has no model; it has what is not modelled; `out` is
            of another experiment.
    """
    design = experiment.load(file)
    trial = model_of(design.study, file)
    names = [one.name for one in studies.find(design.study).means]
    columns = [*design.factors, "seed", *names]
    there = _there(out, columns, len(design.factors) + 1)
    for one in planned(design, file, only, seeds):
        if (key := _key(one)) not in there:
            try:
                found = trial(one.plan)
            except ValueError as error:
                raise UsageError(f"{file}: {one.name}: {error}") from error
            if not out.exists():
                _append(out, columns)
            values = [*key, *(f"{found[name]:.4f}" for name in names)]
            _append(out, values)
            yield " ".join(values)


def model_of(name: str | None, file: Path) -> Model:
    """The model of a study."""
    module = studies.find(name).model
    if name is None:
        raise UsageError(f"{file}: study: this key is missing; only a study has a model")
    if not module:
        raise UsageError(f"{file}: study = {name}: this study has no model to compute trials with")
    model: Model = importlib.import_module(module).trial
    return model


def _key(trial: PlannedTrial) -> tuple[str, ...]:
    return (*map(str, trial.factors.values()), str(trial.plan.seed))


def _there(out: Path, columns: Sequence[str], heads: int) -> set[tuple[str, ...]]:
    """The trials that a file has."""
    if not out.exists():
        return set()
    table = read_csv(out)
    if list(table.columns) != list(columns):
        raise UsageError(
            f"{out} does not have the columns {', '.join(columns)}; name another file with --out"
        )
    return {tuple(row[name] for name in columns[:heads]) for row in table.rows}


def _append(out: Path, values: Sequence[str]) -> None:
    with out.open("a", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerow(values)
