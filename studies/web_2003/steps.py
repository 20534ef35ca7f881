# SPDX-License-Identifier: GPL-2.0-only
"""The verdicts of the long trials with the first seeds alone: which of them moved with a seed.

Whoever looks at the verdicts after each seed can stop at a seed that suits them. So the page shows
what each number of seeds said.
"""

from collections.abc import Iterable, Mapping

from analysis import kept_trials
from analysis.cells import Cell
from analysis.claims import Evidence, Method, claims_of
from analysis.claims.findings import Finding, Verdict
from analysis.kept import Kept
from analysis.kept_trials import KeptTrial, Levels
from analysis.report.model import Sheet, plain
from analysis.report.sentences import Numbers
from studies.web_2003 import readings
from studies.web_2003.abstract import SLIDES, WHOLE
from studies.web_2003.checks import CHECKS
from studies.web_2003.study import STUDY

FEWEST = 3
"""Fewer seeds give intervals that exclude nothing."""


def verdicts(kept: Kept, seeds: int) -> dict[str, str]:
    """Claim -> verdict, of the trials with the seeds 1 to `seeds`."""
    return {name: found.verdict.value for name, found in findings(kept, seeds).items()}


def findings(kept: Kept, seeds: int) -> dict[str, Finding]:
    """The same with the figures of each verdict."""
    trials = kept_trials.read(kept.folder / WHOLE / kept_trials.FILE)
    cells = _cells(trial for trial in trials if trial.seed <= seeds)
    evidence = Evidence(cells, STUDY, Method.SEEDS)
    return {claim.id: claim.on(evidence) for claim in claims_of(STUDY, CHECKS)}


def _cells(trials: Iterable[KeptTrial]) -> list[Cell]:
    """The trials by their levels; a cell has its figures by seed, and no plan."""
    figures: dict[Levels, dict[str, dict[int, float]]] = {}
    for trial in trials:
        cell = figures.setdefault(frozenset(trial.levels.items()), {})
        for name, value in trial.metrics.items():
            cell.setdefault(name, {})[trial.seed] = value
    return [Cell(levels=dict(levels), metrics=metrics) for levels, metrics in figures.items()]


def steps(kept: Kept) -> Mapping[int, Mapping[str, str]]:
    """Number of seeds -> claim -> verdict, from the fewest that say anything to all."""
    return {seeds: verdicts(kept, seeds) for seeds in range(FEWEST, last_seed(kept) + 1)}


def last_seed(kept: Kept) -> int:
    """The last seed of the long trials at the slides' loads."""
    trials = kept_trials.read(kept.folder / WHOLE / kept_trials.FILE)
    return max(trial.seed for trial in trials if trial.levels["load"] in SLIDES)


def sheet(kept: Kept) -> Sheet:
    """The readings whose verdict is another with fewer seeds; one column a number of seeds."""
    found = steps(kept)
    rows = [
        [*readings.names(one), kind, *told]
        for one in readings.readings(kept)
        for kind, row in zip(readings.KINDS, one.both, strict=True)
        for told in [[of[row["id"]] for of in found.values()]]
        if len(set(told)) > 1
    ]
    return plain(rows, *readings.HEADS, "ARED", *(f"{n} seeds" for n in found))


def numbers(kept: Kept) -> Numbers:
    """How many verdicts are undecided with the fewest and with all seeds, and how many moved.

    back: of these, the verdicts that are again what the fewest seeds said. crossed: the verdicts
    that were "holds" with some seeds and "does not hold" with others.
    """
    found = steps(kept)
    paths = [[of[name] for of in found.values()] for name in found[FEWEST]]
    firm = {Verdict.HOLDS.value, Verdict.FAILS.value}
    undecided = Verdict.UNDECIDED.value
    moved = [path for path in paths if len(set(path)) > 1]
    return {
        "fewest": FEWEST,
        "seeds": max(found),
        "verdicts": len(paths),
        "least": sum(path[0] == undecided for path in paths),
        "left": sum(path[-1] == undecided for path in paths),
        "moved": len(moved),
        "back": sum(path[0] == path[-1] for path in moved),
        "crossed": sum(firm <= set(path) for path in paths),
    }
