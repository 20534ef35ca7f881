# SPDX-License-Identifier: GPL-2.0-only
"""Checks of means of cells and of their differences, paired by seed (analysis/contrasts.py).

The cells that a claim names are fixed: a figure is computed of each seed over all of them, and
its interval is over the seeds. A trial without a value takes its seed out of the figures that
need its cell.
"""

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence

from analysis.cells import Cell, Levels
from analysis.claims.evidence import Evidence, Weighted, combinations, equal, words
from analysis.claims.findings import (
    Bounds,
    Figure,
    Finding,
    NoEvidenceError,
    Side,
    Verdict,
    bounded,
    holds,
    intervals,
    some_intervals,
)


def difference(
    evidence: Evidence,
    *,
    where: Levels,
    response: str,
    of: Levels,
    minus: Levels,
    for_each: Levels | None = None,
    at_least: float | None = None,
    at_most: float | None = None,
    within: float | None = None,
    relative: bool = False,
) -> Finding:
    """The mean over `of` less the mean over `minus` keeps the bounds given.

    With `for_each`, this for every combination of its levels on its own. relative: the ratio of
    the two, less 1, by logarithms of each seed; for responses with heavy tails.
    """
    bounds = (at_least if within is None else -within, at_most if within is None else within)
    figures = _each_difference(
        evidence, where, response, of, minus, for_each or {}, claimed(*bounds), relative=relative
    )
    on_scale = _logarithms(bounds) if relative else bounds
    return Finding(
        verdict=bounded(figures, [on_scale] * len(figures)),
        evidence=intervals(figures) + limits(*bounds),
        figures=figures,
    )


def mostly_positive(
    evidence: Evidence,
    *,
    where: Levels,
    response: str,
    of: Levels,
    minus: Levels,
    for_each: Levels,
    share: float = 0.75,
) -> Finding:
    """The difference is above 0 in at least `share` of the combinations of `for_each`.

    It does not hold when at most 1 - `share` are; in between it is undecided.
    """
    figures = _each_difference(evidence, where, response, of, minus, for_each, Side.ABOVE)
    positive = sum(figure.measured.difference > 0 for figure in figures) / len(figures)
    verdict = Verdict.UNDECIDED
    if positive >= share or positive <= 1 - share:
        verdict = holds(positive >= share)
    return Finding(verdict=verdict, evidence=intervals(figures), figures=figures)


def gain(
    evidence: Evidence,
    *,
    where: Levels,
    response: str,
    of: Levels,
    minus: Levels,
    at_least: float = 0.0,
) -> Finding:
    """Mean difference between two levels, over the cells that have a like with the other."""
    terms = _pairs(evidence.of(where), response, of, minus)
    name = f"{response}, {words(of)} minus {words(minus)}:"
    figures = [evidence.figure(name, response, terms, claimed(at_least, None))]
    return Finding(
        verdict=bounded(figures, [(at_least, None)]),
        evidence=intervals(figures),
        figures=figures,
    )


def gain_larger(
    evidence: Evidence,
    *,
    where: Levels,
    than: Levels,
    response: str,
    of: Levels,
    minus: Levels,
) -> Finding:
    """The paired difference of two levels is larger in some cells than in others."""
    large, small = (_pairs(evidence.of(group), response, of, minus) for group in (where, than))
    about = f"{response}, {words(of)} minus {words(minus)}"
    return _larger(evidence, response, about, {words(where): large, words(than): small})


def mean_larger(
    evidence: Evidence,
    *,
    where: Levels,
    than: Levels,
    response: str,
    with_any: str | None = None,
    without: str | None = None,
) -> Finding:
    """The mean over some cells is larger than that over others."""
    large, small = (
        _mean(evidence.of(group, with_any, without), response, "cells in both groups")
        for group in (where, than)
    )
    return _larger(evidence, response, response, {words(where): large, words(than): small})


def mean_bounded(
    evidence: Evidence,
    *,
    where: Levels,
    response: str,
    at_least: float | None = None,
    at_most: float | None = None,
    with_any: str | None = None,
    without: str | None = None,
) -> Finding:
    """The mean over the cells keeps the bound."""
    terms = _mean(evidence.of(where, with_any, without), response, "such a cell")
    figures = [evidence.figure(f"mean {response}", response, terms)]
    return Finding(
        verdict=bounded(figures, [(at_least, at_most)]),
        evidence=intervals(figures) + limits(at_least, at_most),
        figures=figures,
    )


def each_bounded(
    evidence: Evidence,
    *,
    where: Levels,
    response: str,
    at_least: float | None = None,
    at_most: float | None = None,
    with_any: str | None = None,
    without: str | None = None,
) -> Finding:
    """The mean of every cell keeps the bound."""
    cells = [cell for cell, _ in known_means(evidence.of(where, with_any, without), response)]
    need(cells, "such a cell")
    figures = [evidence.figure(cell.name, response, [(1.0, cell)]) for cell in cells]
    means = [figure.measured.difference for figure in figures]
    text = f"{response} {min(means):.3f}"
    if len(means) > 1:
        text += f" to {max(means):.3f} in {len(means)} cells"
    bounds = (at_least, at_most)
    unsure = [figure for figure in figures if bounded([figure], [bounds]) is not Verdict.HOLDS]
    if unsure:
        text += f"; {len(unsure)} beyond, or not surely within: {some_intervals(unsure)}"
    return Finding(
        verdict=bounded(figures, [bounds] * len(figures)),
        evidence=text + limits(*bounds),
        figures=figures,
    )


def share_below(
    evidence: Evidence,
    *,
    where: Levels,
    response: str,
    below: float,
    share: float,
    with_any: str | None = None,
    without: str | None = None,
) -> Finding:
    """In at least `share` of the trials the response is below a bound."""
    cells = [cell for cell in evidence.of(where, with_any, without) if cell.values(response)]
    need(cells, "such a cell")
    values = [value for cell in cells for value in cell.values(response)]
    found = sum(value < below for value in values)
    name = f"share with {response} below {below}"
    figures = [
        evidence.figure(name, response, equal(cells), of_value=lambda value: float(value < below))
    ]
    return Finding(
        verdict=holds(found >= share * len(values)),
        evidence=f"{response} below {below} in {found} of {len(values)} trials",
        figures=figures,
    )


def grows(
    evidence: Evidence,
    *,
    where: Levels,
    factor: str,
    response: str,
    with_any: str | None = None,
    without: str | None = None,
) -> Finding:
    """A response's mean grows with a factor's level, a number."""
    chosen = evidence.of(where, with_any, without)
    chosen.sort(key=lambda cell: float(cell.levels[factor]))
    means = known_means(chosen, response)
    need(means[1:], f"{response} in two such cells")
    text = ", ".join(f"{factor} {cell.levels[factor]}: {value:g}" for cell, value in means)
    rising = all(a < b for (_, a), (_, b) in itertools.pairwise(means))
    figures = [
        evidence.figure(
            f"{factor} {after.levels[factor]} minus {before.levels[factor]}",
            response,
            [(1.0, after), (-1.0, before)],
            Side.ABOVE,
        )
        for (before, _), (after, _) in itertools.pairwise(means)
    ]
    return Finding(verdict=holds(rising), evidence=text, figures=figures)


# ---- what they share ----------------------------------------------------------------------------


def need(found: Sequence[object] | Mapping[str, object], what: str) -> None:
    """Raise NoEvidenceError where nothing was found."""
    if not found:
        raise NoEvidenceError(f"not measured: {what}")


def known_means(cells: Iterable[Cell], response: str) -> list[tuple[Cell, float]]:
    """The cells that have a response, each with its mean."""
    return [(cell, mean) for cell in cells if (mean := cell.mean(response)) is not None]


def named(evidence: Evidence, levels: Mapping[str, tuple[str]]) -> str:
    """A combination of levels in words."""
    return " ".join(evidence.study.level(factor, level) for factor, (level,) in levels.items())


def claimed(low: float | None, high: float | None) -> Side:
    """The side of 0 that bounds of a difference claim: neither, where both sides keep them."""
    if low is not None and low >= 0:
        return Side.ABOVE
    return Side.BELOW if high is not None and high <= 0 else Side.NEITHER


def limits(low: float | None, high: float | None) -> str:
    """Bounds in words."""
    if low is not None and high is not None:
        return f", from {low:g} to {high:g}"
    return f", at least {low:g}" if low is not None else f", at most {high:g}"


def _each_difference(
    evidence: Evidence, where: Levels, response: str, of: Levels, minus: Levels,
    for_each: Levels, side: Side, *, relative: bool = False,
) -> list[Figure]:  # fmt: skip
    """The mean over `of` less that over `minus`, for each combination of the levels."""
    return [
        evidence.difference(
            named(evidence, levels), where, response, {**of, **levels}, {**minus, **levels}, side,
            relative=relative,
        )
        for levels in combinations(for_each)
    ]  # fmt: skip


def _logarithms(bounds: Bounds) -> Bounds:
    """Bounds of a ratio less 1 as those of its logarithm."""
    low, high = (None if bound is None else math.log1p(bound) for bound in bounds)
    return low, high


def _mean(cells: Iterable[Cell], response: str, what: str) -> Weighted:
    known = [cell for cell in cells if cell.values(response)]
    need(known, what)
    return equal(known)


def _larger(
    evidence: Evidence, response: str, about: str, groups: Mapping[str, Weighted]
) -> Finding:
    """The first of two sums is the larger."""
    parts = [evidence.figure(name, response, terms) for name, terms in groups.items()]
    first, second = groups.values()
    terms = [*first, *((-weight, cell) for weight, cell in second)]
    figures = [evidence.figure("difference", response, terms, Side.ABOVE)]
    told = ", ".join(figure.interval for figure in parts)
    return Finding(
        verdict=bounded(figures, [Side.ABOVE.value]),
        evidence=f"{about}: {told}, {intervals(figures)}",
        figures=figures,
    )


def _pairs(cells: Sequence[Cell], response: str, of: Levels, minus: Levels) -> Weighted:
    """Cells of `of` less their likes of `minus`; NoEvidenceError where none has a like.

    Two cells are alike when they differ in the factors of `of` alone.
    """
    known = [cell for cell in cells if cell.values(response)]
    like = {_others(cell, minus): cell for cell in known if cell.matches(minus)}
    pairs = [
        (cell, like[_others(cell, of)])
        for cell in known
        if cell.matches(of) and _others(cell, of) in like
    ]
    need(pairs, f"{words(of)} and {words(minus)} of the same cell")
    first, second = zip(*pairs, strict=True)
    return [*equal(first), *equal(second, -1)]


def _others(cell: Cell, levels: Levels) -> frozenset[tuple[str, str]]:
    """The cell's levels of all other factors."""
    return frozenset(item for item in cell.levels.items() if item[0] not in levels)
