# SPDX-License-Identifier: GPL-2.0-only
"""A campaign from its kept lines alone: the trials of trials.csv, without their records."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from analysis.errors import ReportError
from analysis.kept_trials import FILE, KeptTrial, Levels, read
from analysis.records import CampaignRecords, Trial
from analysis.study import Study
from plan import facts
from plan.plan import Plan

NOTHING = facts.read(facts.TrialFacts, {})
"""What a kept trial has of its lab: no counts."""


def read_kept(folder: Path, study: Study, planned: Mapping[Levels, Plan]) -> CampaignRecords:
    """The kept trials of a campaign as valid trials with figures, without checks and tables.

    Args:
        folder: of the campaign's kept results.
        planned: the plans of the experiment's cells, in their order. A kept cell may have more
            levels, such as the kernel of `--kernel`.

    Raises:
        ReportError: the experiment has not the cell of a kept trial.
    """
    trials = tuple(_trial(line, folder, study, planned) for line in read(folder / FILE))
    return CampaignRecords(
        name=folder.name,
        folder=folder,
        document={},
        trials=trials,
        invalid=(),
        superseded=(),
        unreadable=(),
        others=(),
        factors=_factors(trials, planned),
    )


def _trial(line: KeptTrial, folder: Path, study: Study, planned: Mapping[Levels, Plan]) -> Trial:
    plan = _plan(line, folder, planned)
    published = study.published(line.levels, plan) if study.published else None
    return Trial(
        name=line.trial,
        folder=folder / line.trial,
        factors=dict(line.levels),
        seed=line.seed,
        plan=replace(plan, seed=line.seed),
        facts=NOTHING,
        document={},
        valid=True,
        checks=(),
        metrics=dict(line.metrics),
        published=published or {},
    )


def _plan(line: KeptTrial, folder: Path, planned: Mapping[Levels, Plan]) -> Plan:
    """The plan of a line's cell: of the cell itself, else of the cell without further factors."""
    cell = line.key[0]
    found = planned.get(cell) or next((planned[one] for one in planned if one < cell), None)
    if found is None:
        raise ReportError(
            f"{folder / FILE}: the experiment has no trial like the kept trial '{line.name}'"
        )
    return found


def _factors(trials: Sequence[Trial], planned: Iterable[Levels]) -> Mapping[str, tuple[str, ...]]:
    """The factors in the kept order; levels in the experiment's order, others as they come."""
    found: dict[str, dict[str, None]] = {name: {} for name in trials[0].factors}
    for cell in planned:
        for name, level in cell:
            found[name][level] = None
    there = {name: {trial.factors[name] for trial in trials} for name in found}
    for trial in trials:
        for name, level in trial.factors.items():
            found[name].setdefault(level)
    return {
        name: tuple(level for level in levels if level in there[name])
        for name, levels in found.items()
    }
