# SPDX-License-Identifier: GPL-2.0-only
"""Kept trials: one line for each trial of a campaign whose records are not in the project.

studies/ID/results/CAMPAIGN/trials.csv has a column for each factor, then

    seed        the trial's
    trial       its name when it was run
    plan        a hash of its plan, without seed and captures
    digest      a hash of the facts and tables that its lab left (16 hex digits)
    virtual_s   how long it lasted by its own clock [s]
    wall_s      and by the machine's [s]
    ended       when it ended (UTC, ISO 8601)

and a column for each figure, with all digits. Whoever runs a trial again gets the same digest.
Verdicts, means and intervals follow from these lines alone.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from analysis.cells import Cell
from analysis.errors import ReportError, TableError
from analysis.files import regular
from analysis.likeness import DIGITS, FREE
from analysis.records import CampaignRecords, Trial
from analysis.study import Study
from analysis.table import Row, read_csv
from plan import plan as plans
from plan.plan import Plan

FILE = "trials.csv"
OWN = ("seed", "trial", "plan", "digest", "virtual_s", "wall_s", "ended")
SUMS = "SHA256SUMS"
FACTS = "lab.json"
OF_THE_RUN = ("run.json", "trial.json")
"""Files of a record that name the machine and the software; no two machines have the same."""
BY_DEFAULT = ("throughput.csv",)
"""What a trial records unless an experiment says otherwise. It changes nothing of the trial."""

Levels = frozenset[tuple[str, str]]
Key = tuple[Levels, int]
"""Levels and seed."""


@dataclass(frozen=True, kw_only=True)
class KeptTrial:
    """One line."""

    levels: Mapping[str, str]
    seed: int
    trial: str
    plan: str
    digest: str
    virtual_s: float
    wall_s: float
    ended: str
    metrics: Mapping[str, float]

    @property
    def key(self) -> Key:
        return frozenset(self.levels.items()), self.seed

    @property
    def name(self) -> str:
        """Levels and seed in words."""
        return f"{' '.join(self.levels.values())} seed {self.seed}"


def kept(trial: Trial) -> KeptTrial:
    """The line of a record; raises ReportError where its files have no checksums."""
    return KeptTrial(
        levels=dict(trial.factors),
        seed=trial.seed,
        trial=trial.name,
        plan=plan_hash(trial.document["plan"]),
        digest=digest(trial.folder),
        virtual_s=float(trial.document["virtual_s"]),
        wall_s=float(trial.document["wall_s"]),
        ended=str(trial.document.get("ended", "")),
        metrics={name: value for name, value in trial.metrics.items() if value is not None},
    )


def plan_hash(plan: Mapping[str, object]) -> str:
    """A hash of a plan's JSON without what trials of one cell may differ in."""
    text = json.dumps(
        {key: value for key, value in plan.items() if key not in FREE}, sort_keys=True
    )
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]


def digest(folder: Path) -> str:
    """A hash of the checksums of the tables, but of throughput.csv, and of the lab's facts.

    The versions of the lab's packages are no fact of the trial. Debian changes them every week, and
    a trial that left the same tables with a newer package shall have the same digest.
    """
    try:
        lines = regular(folder / SUMS).read_text(encoding="ascii").splitlines()
        facts = json.loads(regular(folder / FACTS).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ReportError(f"the record {folder} cannot be read: {error}") from None
    told = sorted(line for line in lines if not line.endswith((*OF_THE_RUN, *BY_DEFAULT, FACTS)))
    told.append(json.dumps({name: facts[name] for name in sorted(facts) if name != "versions"}))
    return hashlib.sha256("\n".join(told).encode()).hexdigest()[:DIGITS]


def read(path: Path) -> list[KeptTrial]:
    """The lines of a file; none where there is no file. Raises TableError on a damaged one."""
    if not path.exists():
        return []
    table = read_csv(path)
    table.require(*OWN)
    at = table.columns.index("seed")
    factors, figures = table.columns[:at], table.columns[at + len(OWN) :]
    try:
        return [_of_row(row, factors, figures) for row in table.rows]
    except ValueError as error:
        raise TableError(f"{path}: {error}") from None


def cells_of(trials: Iterable[KeptTrial]) -> list[Cell]:
    """The cells of some lines, in the order of the lines."""
    found: dict[tuple[tuple[str, str], ...], dict[str, dict[int, float]]] = {}
    for trial in trials:
        metrics = found.setdefault(tuple(trial.levels.items()), {})
        for name, value in trial.metrics.items():
            metrics.setdefault(name, {})[trial.seed] = value
    return [Cell(levels=dict(levels), metrics=metrics) for levels, metrics in found.items()]


def _of_row(row: Row, factors: Sequence[str], figures: Sequence[str]) -> KeptTrial:
    return KeptTrial(
        levels={name: row[name] for name in factors if row[name]},
        seed=int(row["seed"]),
        trial=row["trial"],
        plan=row["plan"],
        digest=row["digest"],
        virtual_s=float(row["virtual_s"]),
        wall_s=float(row["wall_s"]),
        ended=row["ended"],
        metrics={name: float(row[name]) for name in figures if row[name]},
    )


def merged(
    before: Iterable[KeptTrial], new: Iterable[KeptTrial], where: Path, *, replace_kept: bool
) -> list[KeptTrial]:
    """The lines of both, each levels and seed once.

    Raises ReportError for a trial that both have with different digests or plans, unless the new
    one is to replace the kept one.
    """
    lines = {line.key: line for line in before}
    for line in new:
        old = lines.get(line.key)
        if old is not None and not replace_kept:
            _require_same(old, line, where)
        lines[line.key] = line
    return list(lines.values())


def _require_same(old: KeptTrial, new: KeptTrial, where: Path) -> None:
    for what in ("plan", "digest"):
        if getattr(old, what) != getattr(new, what):
            raise ReportError(
                f"{where}: {new.name}: the kept trial {old.trial} has the {what} "
                f"{getattr(old, what)}, but the new trial {new.trial} has {getattr(new, what)}; "
                "--replace keeps the new trial"
            )


def table(lines: Sequence[KeptTrial], factors: Mapping[str, Sequence[str]]) -> list[list[object]]:
    """The header and the rows, cells in the order of the factors' levels, seeds rising."""
    figures = list(dict.fromkeys(name for line in lines for name in line.metrics))

    def place(line: KeptTrial) -> tuple[list[int], int]:
        orders = [list(levels) for levels in factors.values()]
        own = [line.levels.get(name, "") for name in factors]
        return [
            order.index(level) if level in order else len(order)
            for order, level in zip(orders, own, strict=True)
        ], line.seed

    return [
        [*factors, *OWN, *figures],
        *(
            [
                *(line.levels.get(name, "") for name in factors),
                *(getattr(line, name) for name in OWN),
                *(repr(line.metrics[name]) if name in line.metrics else "" for name in figures),
            ]
            for line in sorted(lines, key=place)
        ),
    ]


def with_kept(
    campaign: CampaignRecords,
    lines: Iterable[KeptTrial],
    study: Study,
    planned: Mapping[Levels, Plan] = MappingProxyType({}),
) -> CampaignRecords:
    """The campaign with those kept trials that it has no record of.

    A kept trial has figures and no tables. planned: the plans of the experiment's cells in their
    order, for the cells of which the campaign has no trial. An invalid trial has the plan of its
    cell, too. Raises ReportError for a kept trial whose plan is not known.
    """
    there = {(frozenset(trial.factors.items()), trial.seed) for trial in campaign.trials}
    like = {
        frozenset(trial.factors.items()): trial for trial in (*campaign.invalid, *campaign.trials)
    }
    more = []
    for line in lines:
        if line.key in there:
            continue
        cell = line.key[0]
        sibling = like.get(cell) or _of_plan(line, campaign.trials[0], study, planned.get(cell))
        if sibling is None:
            raise ReportError(
                f"{campaign.folder} has no trial of the cell of the kept trial '{line.name}'; run "
                "at least one seed of each kept cell"
            )
        more.append(_of_line(line, sibling))
    trials = (*campaign.trials, *more)
    return replace(campaign, trials=trials, factors=_factors(campaign, trials, planned))


def _of_plan(line: KeptTrial, pattern: Trial, study: Study, plan: Plan | None) -> Trial | None:
    """A trial of a cell that was not run; None if the experiment has not the kept plan."""
    if plan is None or plan_hash(document := plans.to_json(plan)) != line.plan:
        return None
    return replace(
        pattern,
        factors=dict(line.levels),
        plan=plan,
        published=study.published(line.levels, plan) or {} if study.published else {},
        document={**pattern.document, "plan": document, "factors": dict(line.levels)},
    )


def _factors(
    campaign: CampaignRecords, trials: Iterable[Trial], planned: Iterable[Levels]
) -> Mapping[str, tuple[str, ...]]:
    """The factors with all levels of the trials, in the experiment's order where it is known."""
    order: dict[str, dict[str, None]] = {name: {} for name in campaign.factors}
    for cell in planned:
        for name, level in cell:
            order.setdefault(name, {})[level] = None
    found = {name: {trial.factors.get(name) for trial in trials} for name in order}
    return {
        name: tuple(x for x in dict.fromkeys((*order[name], *levels)) if x in found[name])
        for name, levels in campaign.factors.items()
    }


def _of_line(line: KeptTrial, sibling: Trial) -> Trial:
    """A trial that differs from another of its cell in its seed and what came of it."""
    times = {"virtual_s": line.virtual_s, "wall_s": line.wall_s, "ended": line.ended}
    return replace(
        sibling,
        name=line.trial,
        seed=line.seed,
        folder=sibling.folder.with_name(line.trial),
        metrics=dict(line.metrics),
        plan=replace(sibling.plan, seed=line.seed),
        document={**sibling.document, "seed": line.seed, **times},
    )


def by_seed(folder: Path, metric: str, **levels: str) -> dict[int, float]:
    """A metric's mean over the kept trials of these levels, by seed.

    folder: of the campaign's kept results.
    """
    found: dict[int, list[float]] = {}
    for trial in read(folder / FILE):
        value = trial.metrics.get(metric)
        if value is not None and levels.items() <= trial.levels.items():
            found.setdefault(trial.seed, []).append(value)
    return {seed: sum(some) / len(some) for seed, some in sorted(found.items())}
