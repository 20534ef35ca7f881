# SPDX-License-Identifier: GPL-2.0-only
"""The checks of its claims: one cell's response over another's, of the same trace.

Each tenth of a trace makes one ratio, of what both cells did with the same exchanges; the intervals
are over the tenths of all seeds that both have. What one tenth leaves in the queue the next one
finds, so they are a little too narrow.

A tenth makes no ratio where a cell's quantile of it is infinite, as so many exchanges did not end,
or its class has none. Where one cell has a value there and the other none, the ratios that are left
are of survivors: the evidence says how many, and nothing is decided.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from analysis.cells import Cell, Levels
from analysis.claims.checks import all_of, holds, need, within_bounds
from analysis.claims.evidence import Evidence, Finding, Verdict, combinations, words
from analysis.statistics import Estimate, estimate
from studies.web_2003.study import OF_EXCHANGES
from studies.web_2003.times import exchanges_in


def relative(
    evidence: Evidence,
    *,
    where: Levels,
    response: str,
    of: Levels,
    minus: Levels,
    for_each: Levels,
    at_least: float | None = None,
    at_most: float | None = None,
) -> Finding:
    """By how much `of` is larger than `minus`, as a share of it, keeps the bounds for each."""
    found = dict(_ratios(evidence, where, response, of, minus, for_each))
    verdict = all_of(
        within_bounds(one.of.mean - 1, one.of.half_width, at_least, at_most)
        if one.whole
        else Verdict.UNDECIDED
        for one in found.values()
    )
    text = f"{response}, {words(of)} to {words(minus)}: {_text(found)}"
    return Finding(verdict=verdict, evidence=text)


def crosses(
    evidence: Evidence, *, where: Levels, responses: list[str], of: Levels, minus: Levels
) -> Finding:
    """`of` is surely smaller than `minus` in one of the responses, and larger in another."""
    found = {
        response: ratio
        for response in responses
        for _, ratio in _ratios(evidence, where, response, of, minus, {})
    }
    known = [one.of for one in found.values() if one.whole]
    smaller = any(one.high is not None and one.high < 1 for one in known)
    larger = any(one.low is not None and one.low > 1 for one in known)
    decided = (smaller and larger) or len(known) == len(found)
    text = f"{words(of)} to {words(minus)}: {_text(found)}"
    verdict = holds(smaller and larger) if decided else Verdict.UNDECIDED
    return Finding(verdict=verdict, evidence=text)


CHECKS = {check.__name__: check for check in (relative, crosses)}


@dataclass(frozen=True, kw_only=True)
class Ratio:
    """Over the tenths in which both cells have a value.

    one_sided: tenths in which only one of them has; neither: in which none has.
    """

    of: Estimate
    one_sided: int
    neither: int

    @property
    def whole(self) -> bool:
        return not self.one_sided


def _ratios(
    evidence: Evidence, where: Levels, response: str, of: Levels, minus: Levels, for_each: Levels
) -> Iterator[tuple[str, Ratio]]:
    """Each combination's name, and its ratio over the tenths of the traces."""
    for levels in combinations(for_each):
        first, second = (_cell(evidence, {**where, **levels, **of_one}) for of_one in (of, minus))
        mine, theirs = (_tenths(cell, response) for cell in (first, second))
        pairs = [(mine[key], theirs[key]) for key in mine if key in theirs]
        ratios = [a / b for a, b in pairs if a is not None and b]
        need(ratios, f"{response} of {first.name} and {second.name}")
        neither = sum(not a and not b for a, b in pairs)
        one_sided = len(pairs) - len(ratios) - neither
        name = " ".join(level for (level,) in levels.values())
        yield name, Ratio(of=estimate(ratios), one_sided=one_sided, neither=neither)


def _cell(evidence: Evidence, where: Levels) -> Cell:
    found = evidence.of(where)
    need(found, words(where))
    return found[0]


def _tenths(cell: Cell, response: str) -> dict[tuple[int, int], float | None]:
    """(seed, tenth) -> what the response is of it."""
    return {
        (trial.seed, number): found[response]
        for trial in cell.trials
        for number, found in enumerate(_of_tenths(trial.folder))
    }


@cache
def _of_tenths(folder: Path) -> list[dict[str, float | None]]:
    """All that is measured of each tenth of a trial, at once: many claims ask for it."""
    whole = exchanges_in(folder)
    parts = whole.tenths() if whole else []
    return [{name: of(part) for name, of in OF_EXCHANGES.items()} for part in parts]


def _text(found: dict[str, Ratio]) -> str:
    return ", ".join(map(_words, found.items()))


def _words(named: tuple[str, Ratio]) -> str:
    name, ratio = named
    text = f"{name} {100 * (ratio.of.mean - 1):+.1f} %".strip()
    text += "" if ratio.of.half_width is None else f" ± {100 * ratio.of.half_width:.1f}"
    left_out = [
        f"{count} where {who} has a value"
        for count, who in ((ratio.one_sided, "only one"), (ratio.neither, "neither"))
        if count
    ]
    tenths = ratio.of.n + ratio.one_sided + ratio.neither
    return f"{text} (of {tenths} tenths without {' and '.join(left_out)})" if left_out else text
