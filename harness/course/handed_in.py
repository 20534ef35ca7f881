# SPDX-License-Identifier: GPL-2.0-only
"""The records that a student hands in: are they of the lab, the student's own, and as recorded?

Nothing in the folder is trusted but for its facts: the experiment is the course's own, the seed
comes from the name, the figures from the facts by the present code. Nothing is written there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis.errors import RecordError
from analysis.records import level_text, read_facts, record_of
from harness.course import measures
from harness.course.handout import CAMPAIGN, MINE
from harness.design.trials import PlannedTrial
from harness.judge import judgement, studies
from harness.records.seal import changed_files
from plan import plan

Levels = Mapping[str, str]


class NotHandedInError(Exception):
    """What keeps a folder's records from being judged: one sentence for the student."""


class NotRunError(NotHandedInError):
    """A campaign has no record yet."""


@dataclass(frozen=True, kw_only=True)
class Found:
    """A record's folder, facts and levels."""

    folder: Path
    facts: Mapping[str, Any]
    levels: Levels


def finished(folder: Path, planned: Sequence[PlannedTrial]) -> list[measures.Finished]:
    """The records of the trials that a student was to run, judged by the present code.

    Raises:
        NotRunError: they are not there.
        NotHandedInError: they are not his, changed, or of another experiment.
    """
    recorded = records(folder / CAMPAIGN)
    seed = planned[0].plan.seed
    if not recorded:
        raise NotRunError(
            f"the lab has not been run: {folder / CAMPAIGN} has no records; "
            f"./cellbed run {folder / MINE} --out {folder / CAMPAIGN}"
        )
    own = [one for one in recorded if one.facts["seed"] == seed]
    if not own:
        others = ", ".join(map(str, sorted({one.facts["seed"] for one in recorded})))
        raise NotHandedInError(
            f"the records have seed {others}, and yours is {seed}: somebody else's; run your own"
        )
    return [judged(matching(own, trial, len(planned))) for trial in planned]


def records(campaign: Path) -> list[Found]:
    """All records of a campaign; NotHandedInError for one that cannot be read."""
    try:
        return [found(folder) for folder in judgement.records(campaign)]
    except (RecordError, ArithmeticError, AttributeError, TypeError, ValueError) as error:
        raise NotHandedInError(f"a record cannot be read: {error}") from error


def found(folder: Path) -> Found:
    facts = read_facts(folder)
    return Found(folder=folder, facts=facts, levels=levels_of(facts["factors"]))


def matching(recorded: Sequence[Found], trial: PlannedTrial, wanted: int) -> Found:
    """The record of a trial, by its plan."""
    levels = levels_of(trial.plan.factors)
    cell = ", ".join(f"{name} {level}" for name, level in levels.items())
    same_cell = [one for one in recorded if one.levels == levels]
    if not same_cell:
        raise NotHandedInError(f"the trial with {cell} is missing: run all {wanted} trials")
    expected = json.loads(json.dumps(plan.to_json(trial.plan)))
    differences = [difference(expected, dict(one.facts["plan"])) for one in same_cell]
    for one, different in zip(same_cell, differences, strict=True):
        if different is None:
            return one
    raise NotHandedInError(f"the trial with {cell} is not a trial of the lab: {differences[0]}")


def difference(expected: object, found: object, place: str = "plan") -> str | None:
    """The first place at which two JSON values differ, in words; None where none does."""
    if isinstance(expected, dict) and isinstance(found, dict):
        for key in dict.fromkeys([*expected, *found]):
            said = difference(expected.get(key), found.get(key), f"{place}.{key}")
            if said is not None:
                return said
        return None
    return None if expected == found else f"{place} is {found}, and should be {expected}"


def judged(one: Found) -> measures.Finished:
    """A record's metrics; NotHandedInError where it was changed, or failed its checks."""
    changed = changed_files(one.folder)
    if changed:
        raise NotHandedInError(
            f"{one.folder.name}: {', '.join(changed)} changed after the run; "
            "remove that folder and run it again"
        )
    study = studies.find(None)
    record = record_of(one.folder, one.facts)
    said = judgement.judge(record, study, changed)
    if not said["valid"]:
        failed = ", ".join(check["name"] for check in said["checks"] if not check["ok"])
        raise NotHandedInError(f"{one.folder.name}: is invalid: {failed}")
    return measures.Finished(record=record, metrics=said["metrics"])


def levels_of(factors: Mapping[str, Any]) -> dict[str, str]:
    return {name: level_text(level) for name, level in factors.items()}
