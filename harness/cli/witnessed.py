# SPDX-License-Identifier: GPL-2.0-only
"""Gives a study's witness the trials of its experiment, and keeps what it tells of each."""

from __future__ import annotations

import importlib
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from analysis.study import Study
from analysis.witness import Figures, Witness, line, read, write
from harness.design import experiment
from harness.design.trials import planned
from harness.labs import shared
from plan.errors import UsageError
from plan.plan import Plan


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """Of the witness's experiments and variants; None: its first."""

    experiment: str | None = None
    variant: str | None = None


def run(
    study: Study,
    folder: Path,
    only: Sequence[str],
    seeds: int | None,
    chosen: Chosen,
    *,
    again: bool,
) -> Iterator[str]:
    """Run them one after the other; a sentence for each. `folder`: the study's.

    again: run those whose lines are kept already, too.
    Raises UsageError for a study without a witness, and for an unknown choice or level.
    """
    if not study.witness:
        raise UsageError(f"{study.id}: the study has no witness")
    witness: Witness = importlib.import_module(study.witness).WITNESS
    variant = _known("--variant", chosen.variant, witness.variants)
    name = _known("--experiment", chosen.experiment, witness.experiments)
    path, file = folder / f"{name}.toml", witness.file(folder, name)
    trials = planned(experiment.load(path), path, only, seeds)
    for place, trial in enumerate(trials, start=1):
        words = f"{place}/{len(trials)} {' '.join(map(str, trial.factors.values()))}"
        text = f"{words}, seed {trial.plan.seed}, {variant}"
        if not again and _is_kept(file, trial.plan, variant):
            yield f"{text}: kept already"
            continue
        found = carried(witness, trial.plan, variant)
        if found is None:
            yield f"{text}: {witness.name} has no such queue or sender"
            continue
        write(file, [line(trial.plan, variant, found)])
        yield f"{text}: done"


def _known(option: str, chosen: str | None, names: Sequence[str]) -> str:
    if chosen is not None and chosen not in names:
        raise UsageError(f"{option} {chosen}: write one of {', '.join(names)}")
    return chosen or names[0]


def carried(witness: Witness, plan: Plan, variant: str) -> Figures | None:
    """What it tells of one run; None where it has not what the plan asks for."""
    with tempfile.TemporaryDirectory() as folder:
        shared.prepare(plan, Path(folder))
        return witness.run(plan, Path(folder), variant)


def _is_kept(file: Path, plan: Plan, variant: str) -> bool:
    wanted = line(plan, variant, {}).items()
    return any(wanted <= row.items() for row in read(file))
