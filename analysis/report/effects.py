# SPDX-License-Identifier: GPL-2.0-only
"""What each factor of a campaign does to each response, in sentences.

Two levels are compared cell by cell and seed by seed with all else equal. The interval is a 95 % t
interval over the seeds; seeds that left equal figures give none.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from analysis.report import named
from analysis.report.model import signed
from analysis.report.results import Results
from analysis.statistics import CONFIDENCE, Estimate, estimate, mean
from analysis.study import Response

ROUNDING = 1e-12
"""Sums of equal figures differ by less."""
TELLING = 0.25
"""An effect depends on another factor where it differs by more than this share of itself."""

Others = tuple[tuple[str, str], ...]
"""The levels of all factors but the one that is compared."""


@dataclass(frozen=True, kw_only=True)
class Effect:
    """A response's change from level `old` to level `new` of a factor.

    averaged: it is a mean over several combinations of the other factors' levels.
    by: the same within each level of another factor, where it depends on that.
    seeds: those of any of the compared cells. Where a trial is missing, the change is of the seeds
        that all of these cells have.
    """

    response: Response
    factor: str
    new: str
    old: str
    change: Estimate
    averaged: bool
    by: tuple[tuple[str, Estimate], ...] = ()
    seeds: int = 1
    shared: int = 1

    @property
    def thin(self) -> bool:
        """Have all compared cells too few seeds in common for an interval, but not by design?"""
        return self.shared < min(2, self.seeds)

    @property
    def size(self) -> float:
        return abs(self.change.mean)

    @property
    def half(self) -> float:
        """Half of its interval's width; 0 where there is none."""
        return self.change.half_width or 0.0

    @property
    def sure(self) -> bool:
        """Does the interval, where there is one, leave out 0?"""
        return self.size > self.half


def sentences(results: Results) -> list[str]:
    """The effects of all factors on all responses, and what the intervals rest on."""
    found = [effect for one in results.study.means for effect in effects(results, one)]
    told = [_sentence(results, effect) for effect in found]
    if found and not any(effect.change.half_width for effect in found):
        told.append(_without_intervals(results, found))
    return told


def effects(results: Results, response: Response) -> Iterator[Effect]:
    """The effect of each factor that varies, the largest of those of its pairs of levels.

    Of numbers it is that of the smallest and the largest, if no other is surely larger.
    """
    for factor in results.factors:
        levels = results.levels_of(factor)
        numbers = len(levels) > 1 and _numbers(levels)
        pairs = _of_numbers(results, response, factor) if numbers else _pairs(levels)
        found = [
            effect for new, old in pairs if (effect := _effect(results, response, factor, new, old))
        ]
        if not found:
            continue
        largest = max(found, key=lambda effect: effect.size)
        ends = found[0]
        yield ends if numbers and largest.size <= ends.size + largest.half else largest


def _of_numbers(results: Results, response: Response, factor: str) -> list[tuple[str, str]]:
    """The smallest and the largest level, and the two levels with the extreme means.

    The smaller number is compared with the larger. A factor of many numbers has too many pairs.
    """
    levels = sorted(results.levels_of(factor), key=float)
    values: dict[str, list[float]] = defaultdict(list)
    for cell in results.every_cell:
        if level := cell.levels.get(factor):
            values[level] += cell.metrics.get(response.name, {}).values()
    by_mean = sorted((level for level in levels if values[level]), key=lambda x: mean(values[x]))
    extremes = sorted({*by_mean[:1], *by_mean[-1:]}, key=float)
    pairs = [(levels[0], levels[-1])]
    return [*pairs, (extremes[0], extremes[1])] if len(extremes) == 2 else pairs


def _effect(results: Results, response: Response, factor: str, new: str, old: str) -> Effect | None:
    differences = _differences(results, response, factor, new, old)
    if not differences:
        return None
    cells = [set(cell) for cell in differences.values()]
    change = _over_seeds(list(differences.values()))
    return Effect(
        response=response, factor=factor, new=new, old=old, change=change,
        averaged=len(cells) > 1, by=_by(differences, change, factor), seeds=len(set.union(*cells)),
        shared=len(set.intersection(*cells)),
    )  # fmt: skip


def _differences(
    results: Results, response: Response, factor: str, new: str, old: str
) -> dict[Others, dict[int, float]]:
    """New less old, by the levels of the other factors and the seed."""
    values: dict[str, dict[Others, dict[int, float]]] = {new: {}, old: {}}
    for cell in results.every_cell:
        if cell.levels.get(factor) in values:
            others = tuple(item for item in cell.levels.items() if item[0] != factor)
            values[cell.levels[factor]][others] = dict(cell.metrics.get(response.name, {}))
    return {
        others: differences
        for others, changed in values[new].items()
        if (
            differences := {
                seed: value - values[old][others][seed]
                for seed, value in changed.items()
                if seed in values[old].get(others, {})
            }
        )
    }


def _over_seeds(cells: Sequence[dict[int, float]]) -> Estimate:
    """The mean of the cells, seed by seed where all cells have the same seeds."""
    seeds = set.intersection(*(set(cell) for cell in cells))
    if not seeds:
        return estimate([mean([mean(list(cell.values())) for cell in cells])])
    values = [mean([cell[seed] for cell in cells]) for seed in sorted(seeds)]
    return estimate(values[:1] if max(values) - min(values) < ROUNDING else values)


def _by(
    differences: dict[Others, dict[int, float]], change: Estimate, compared: str
) -> tuple[tuple[str, Estimate], ...]:
    """The effect by the levels of that other factor on which it depends most; () on none."""
    groups: dict[str, dict[str, list[dict[int, float]]]] = defaultdict(lambda: defaultdict(list))
    for others, seeds in differences.items():
        for factor, level in others:
            groups[factor][level].append(seeds)
    every = (*groups, compared)
    best: tuple[tuple[str, Estimate], ...] = ()
    widest = TELLING * abs(change.mean)
    for factor, levels in groups.items():
        found = tuple(
            (named.level(factor, level, every), _over_seeds(cells))
            for level, cells in levels.items()
        )
        spread = _spread(list(levels.values()))
        if spread and abs(spread.mean) > max(widest, spread.half_width or 0.0):
            best, widest = found, abs(spread.mean)
    return best


def _spread(levels: Sequence[Sequence[dict[int, float]]]) -> Estimate | None:
    """The largest difference between an effect at two levels, paired by seed.

    It is the largest of several, so its interval is that of Bonferroni for all pairs of levels.
    None where there is one level, or no seed that all cells of both levels have.
    """
    pairs = len(levels) * (len(levels) - 1) // 2
    if not pairs:
        return None
    ordered = sorted(levels, key=lambda cells: _over_seeds(cells).mean)
    low, high = ordered[0], ordered[-1]
    seeds = set.intersection(*(set(cell) for cell in (*low, *high)))
    values = [mean([c[seed] for c in high]) - mean([c[seed] for c in low]) for seed in seeds]
    return estimate(values, 1 - (1 - CONFIDENCE) / pairs) if values else None


def _sentence(results: Results, effect: Effect) -> str:
    words = (
        results.study.level(effect.factor, effect.new),
        results.study.level(effect.factor, effect.old),
    )
    changed = named.change(effect.factor, *words, results.factors)
    what = f"With {changed}, {effect.response.title.lower()}"
    form, average = effect.response.form, " on average" if effect.averaged else ""
    if effect.thin:
        return (
            f"{what} differs by {_figure(effect.change, form)}{average}. Trials are missing, so"
            " too few seeds have all combinations for an interval."
        )
    if not effect.sure or not float(format(effect.change.mean, form).replace(",", "")):
        return f"{what} does not change measurably{average} ({_figure(effect.change, form)})."
    verb = "is higher" if effect.change.mean > 0 else "is lower"
    size = _figure(effect.change, form, sign=False)
    parts = ", ".join(f"{where}: {_figure(one, form)}" for where, one in effect.by)
    return f"{what} {verb} by {size}{average}{f' ({parts})' if parts else ''}."


def _figure(found: Estimate, form: str, *, sign: bool = True) -> str:
    value = format(found.mean if sign else abs(found.mean), f"+{form}" if sign else form)
    return signed(value) + (f" ± {half_text(found.half_width, form)}" if found.half_width else "")


def half_text(width: float, form: str) -> str:
    """A half width in words: one below the last digit that is printed is not 0."""
    text = format(width, form)
    return text if text.strip("0.,") else f"less than {text[:-1]}1"


def _without_intervals(results: Results, found: Sequence[Effect]) -> str:
    if any(effect.thin for effect in found):
        return "There are no intervals, because trials are missing."
    if max(len(cell.trials) for cell in results.every_cell) > 1:
        return "All seeds of a combination gave equal figures, so there are no intervals."
    return (
        "Each combination has one seed, so there are no intervals. Run with --seeds 5 to get them."
    )


def _pairs(levels: Sequence[str]) -> list[tuple[str, str]]:
    return [(new, old) for at, old in enumerate(levels) for new in levels[at + 1 :]]


def _numbers(levels: Sequence[str]) -> bool:
    try:
        return all(float(level) is not None for level in levels)
    except ValueError:
        return False
