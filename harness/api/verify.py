# SPDX-License-Identifier: GPL-2.0-only
"""Runs some of a study's kept trials again and compares what they leave with what is kept."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from analysis import kept_trials
from analysis.errors import AnalysisError
from analysis.kept_trials import KeptTrial
from analysis.records import level_text, read_trial
from harness.api.experiment import Experiment, execute
from harness.design.experiment import KERNEL
from harness.design.trials import PlannedTrial, parts
from plan import plan as plans
from plan.errors import UsageError

SAME = "ok"
SAME_FIGURES = "another digest, but all figures with all digits"


@dataclass(frozen=True, kw_only=True)
class Verified:
    """A kept trial, and what it left now: its line, or why it left none.

    The figures tell where the digest cannot: an older cellbed made digests in another way, and
    recorded other facts.
    """

    campaign: str
    kept: KeptTrial
    now: KeptTrial | None = None
    why: str = ""

    @property
    def ok(self) -> bool:
        return self.verdict in (SAME, SAME_FIGURES)

    @property
    def verdict(self) -> str:
        if self.now is None:
            return self.why
        if self.now.digest == self.kept.digest:
            return SAME
        return self._differences() or SAME_FIGURES

    def _differences(self) -> str:
        """Every figure that differs, and by how much; empty where none does."""
        assert self.now is not None
        told = [
            f"{name} ({_difference(was, self.now.metrics.get(name))})"
            for name, was in sorted(self.kept.metrics.items())
            if self.now.metrics.get(name) != was
        ]
        if not told:
            return ""
        # A trial's name ends with a hash of its plan and software, and the plan is the same.
        software = "the same" if self.now.trial == self.kept.trial else "another"
        return f"differs in {', '.join(told)}; it ran with {software} software"


def _difference(was: float, now: float | None) -> str:
    """A difference of a figure in words."""
    if now is None:
        return "missing now"
    return f"by {abs(now / was - 1):.2g} of it" if was else f"0 before, {now:g} now"


def choose(
    folder: Path,
    campaign: str | None,
    sample: int,
    choice: int,
    only: Sequence[str] = (),
    seeds: int | None = None,
) -> dict[str, list[KeptTrial]]:
    """Some of a study's kept trials, drawn by chance, by campaign.

    choice: the seed of the draw. only: FACTOR=LEVEL[,LEVEL] each. seeds: the largest seed.

    Raises UsageError where the study keeps no trial, or not this campaign, or none of these.
    """
    lines = [
        (name, line)
        for name in sorted(
            path.parent.name for path in folder.glob(f"results/*/{kept_trials.FILE}")
        )
        if campaign in (None, name)
        for line in kept_trials.read(folder / "results" / name / kept_trials.FILE)
    ]
    if not lines:
        what = f"the campaign {campaign}" if campaign else "any campaign"
        raise UsageError(f"{folder.name}: {folder / 'results'} has no kept trial of {what}")
    levels = wanted(only)
    lines = [(name, line) for name, line in lines if is_wanted(line, levels, seeds)]
    if not lines:
        asked = [*(f"--only {one}" for one in only), *([f"--seeds {seeds}"] if seeds else [])]
        raise UsageError(
            f"{' '.join(asked)}: no kept trial of {folder.name} has these levels and seeds; the"
            f" files {folder / 'results'}/*/{kept_trials.FILE} list the kept trials"
        )
    drawn = random.Random(choice).sample(lines, min(sample, len(lines)))
    return {
        name: [line for other, line in drawn if other == name]
        for name, _ in sorted(drawn, key=_name)
    }


def wanted(only: Sequence[str]) -> dict[str, set[str]]:
    """The levels of each factor; UsageError for what is no FACTOR=LEVEL[,LEVEL]."""
    found: dict[str, set[str]] = {}
    for option in only:
        factor, levels = parts(option)
        found.setdefault(factor, set()).update(levels)
    return found


def is_wanted(line: KeptTrial, levels: Mapping[str, set[str]], seeds: int | None) -> bool:
    """Has a kept trial one of the levels of each factor, and a seed that is not too large?"""
    fits = all(line.levels.get(factor) in these for factor, these in levels.items())
    return fits and (seeds is None or line.seed <= seeds)


def _name(drawn: tuple[str, KeptTrial]) -> str:
    return drawn[0]


def verify(
    experiment: Path, campaign: str, lines: Sequence[KeptTrial], out: Path, jobs: int | None = None
) -> Iterator[Verified]:
    """Run these trials of an experiment into `out`; compare."""
    described = Experiment.from_file(experiment)
    running = described.prepare(
        out,
        seeds=max(line.seed for line in lines),
        jobs=jobs,
        kernels=kernels(described.factors, lines),
        trust_kernels=True,  # a study's folder has code of the project, and this runs it anyway
    )
    planned = {_key(trial): trial for trial in running.trials}
    found = {line.key: planned.get(line.key) for line in lines}
    same = {
        key: trial
        for key, trial in found.items()
        if trial is not None and any(_of(line, key, trial) for line in lines)
    }
    running.trials = running.every = list(same.values())
    if same:
        execute(running)
    for line in lines:
        if line.key not in same:
            why = (
                "the experiment does not have this trial any more"
                if found[line.key] is None
                else ("the experiment now has another plan for this trial")
            )
            yield Verified(campaign=campaign, kept=line, why=why)
            continue
        try:
            now = kept_trials.kept(read_trial(running.records / same[line.key].name))
        except AnalysisError:
            yield Verified(campaign=campaign, kept=line, why="it left no record")
        else:
            yield Verified(campaign=campaign, kept=line, now=now)


def kernels(factors: Mapping[str, object], lines: Sequence[KeptTrial]) -> Sequence[str]:
    """The kernels of the lines if the experiment does not name them: it ran with --kernel."""
    if KERNEL in factors:
        return ()
    return list(dict.fromkeys(line.levels[KERNEL] for line in lines if KERNEL in line.levels))


def _of(line: KeptTrial, key: kept_trials.Key, trial: PlannedTrial) -> bool:
    return line.key == key and line.plan == kept_trials.plan_hash(plans.to_json(trial.plan))


def _key(trial: PlannedTrial) -> kept_trials.Key:
    levels = {name: level_text(level) for name, level in trial.factors.items()}
    return frozenset(levels.items()), trial.plan.seed


def summary(found: Iterable[Verified]) -> str:
    """How many trials there are of each verdict."""
    told = [one.verdict for one in found]
    same = f"{told.count(SAME)} of {len(told)} trials left the digests that are kept."
    figures = told.count(SAME_FIGURES)
    if not figures:
        return same
    others = len(told) - told.count(SAME) - figures
    close = f"{figures} left all figures, with another digest."
    return f"{same} {close} {others} left other figures or no record."
