# SPDX-License-Identifier: GPL-2.0-only
"""The checks that a claim can name, each giving a verdict and its evidence.

A check is a function of the evidence and of the claim's parameters (its keyword arguments, all
from the claims' file). One vocabulary of parameters:

    where             the cells that are meant, as levels of factors; than: those compared with
    with_any, without of them those in which a metric is above 0 in some trial, or in none
    response          a metric of the trials
    of, minus         levels whose means are subtracted; for_each: for each combination of these
    factor, level(s)  of an analysis of variance of the cells that are meant
    at_least, at_most, within, limit, share, percent    bounds

Intervals of effects are the ANOVA's 90 % ones: two levels are separated when their intervals do
not overlap (98-0876R1, section 8.1, item 7). Bounds on means and differences are judged by 95 %
intervals over the seeds, where there are seeds; a trial without a value counts in no mean.
"""

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence

from analysis.anova import Anova, Effect
from analysis.cells import Cell, Levels
from analysis.claims.evidence import (
    Evidence,
    Finding,
    NoEvidenceError,
    Verdict,
    combinations,
    words,
)
from analysis.statistics import Estimate, estimate

Check = Callable[..., Finding]


# ---- analysis of variance -----------------------------------------------------------------------


def factor_rank(
    evidence: Evidence,
    *,
    where: Levels,
    response: str,
    factor: str,
    rank: int,
    margin_percent: float = 1.0,
) -> Finding:
    """`factor` has the rank-th largest share of the variation among the main effects.

    Undecided when those nearer than `margin_percent` points could put it there, or away from it.
    """
    anova = evidence.anova(where, response)
    shares = {name: anova.component(name).percent for name in evidence.study.anova}
    order = sorted(shares, key=lambda name: -shares[name])
    place = order.index(factor) + 1
    near = [abs(shares[name] - shares[factor]) < margin_percent for name in order]
    first, last = place - sum(near[: place - 1]), place + sum(near[place:])
    verdict = Verdict.HOLDS if first == rank == last else Verdict.UNDECIDED
    if not first <= rank <= last:
        verdict = Verdict.FAILS
    text = ", ".join(f"{name} {shares[name]:.2f} %" for name in order)
    return Finding(verdict=verdict, evidence=text)


def share_at_most(
    evidence: Evidence, *, where: Levels, response: str, factor: str, percent: float
) -> Finding:
    """`factor` explains at most `percent` of the variation."""
    share = evidence.anova(where, response).component(factor).percent
    text = f"{factor} explains {share:.2f} % (limit {percent} %)"
    return Finding(verdict=holds(share <= percent), evidence=text)


def separated(
    evidence: Evidence,
    *,
    where: Levels,
    response: str,
    factor: str,
    upper: Sequence[str],
    lower: Sequence[str],
) -> Finding:
    """Every effect in `upper` lies above every one in `lower`, their intervals apart.

    Undecided where intervals overlap, whichever of the two effects is the larger.
    """
    anova = evidence.anova(where, response)
    pairs = [
        (_effect(anova, factor, high), _effect(anova, factor, low))
        for high in upper
        for low in lower
    ]  # fmt: skip
    verdict = all_of(
        Verdict.HOLDS if _above(first, second)
        else Verdict.FAILS if _above(second, first)
        else Verdict.UNDECIDED
        for first, second in pairs
    )  # fmt: skip
    return Finding(verdict=verdict, evidence=_effects(evidence, anova, factor, (*upper, *lower)))


def overlap(
    evidence: Evidence, *, where: Levels, response: str, factor: str, levels: Sequence[str]
) -> Finding:
    """The intervals of `levels` overlap, each with each: none can be told from another."""
    anova = evidence.anova(where, response)
    effects = [_effect(anova, factor, level) for level in levels]
    apart = any(_above(a, b) or _above(b, a) for a, b in itertools.combinations(effects, 2))
    return Finding(verdict=holds(not apart), evidence=_effects(evidence, anova, factor, levels))


def ordered(
    evidence: Evidence,
    *,
    where: Levels,
    response: str,
    factor: str,
    best_to_worst: Sequence[str],
) -> Finding:
    """The effects come in the order given; undecided where swapped ones overlap."""
    anova = evidence.anova(where, response)
    effects = [_effect(anova, factor, level) for level in best_to_worst]
    verdict = all_of(
        Verdict.HOLDS if better.effect > worse.effect
        else Verdict.FAILS if _above(worse, better)
        else Verdict.UNDECIDED
        for better, worse in itertools.combinations(effects, 2)
    )  # fmt: skip
    return Finding(verdict=verdict, evidence=_effects(evidence, anova, factor, best_to_worst))


def extreme(
    evidence: Evidence, *, where: Levels, response: str, factor: str, level: str, best: bool
) -> Finding:
    """`level` has the best (or worst) effect; undecided where it is not, but overlaps that one."""
    anova = evidence.anova(where, response)
    others = [name for name in anova.levels[factor] if name != level]
    orders = [(level, other) if best else (other, level) for other in others]
    found = [
        ordered(evidence, where=where, response=response, factor=factor, best_to_worst=pair)
        for pair in orders
    ]
    text = _effects(evidence, anova, factor, anova.levels[factor])
    return Finding(verdict=all_of(finding.verdict for finding in found), evidence=text)


def effects_within(evidence: Evidence, *, where: Levels, response: str, limit: float) -> Finding:
    """No main effect of any factor is larger than `limit`, in either direction."""
    effects = evidence.anova(where, response).effects
    largest = max(effects, key=lambda effect: abs(effect.effect))
    name = evidence.study.level(largest.factors[0], largest.levels[0])
    enclosing = sum(not effect.significant for effect in effects)
    text = (
        f"largest effect {largest.effect:+.4f} ({name}), limit {limit}; "
        f"{enclosing} of {len(effects)} intervals enclose 0"
    )
    return Finding(verdict=holds(abs(largest.effect) <= limit), evidence=text)


def spread_at_most(
    evidence: Evidence, *, where: Levels, response: str, factor: str, limit: float
) -> Finding:
    """The effects of the levels of `factor` are at most `limit` apart."""
    spread = _spread(evidence.anova(where, response), factor)
    text = f"effects of {factor} span {spread:.4f} (limit {limit})"
    return Finding(verdict=holds(spread <= limit), evidence=text)


def spread_larger(
    evidence: Evidence,
    *,
    where: Levels,
    than: Levels,
    response: str,
    factor: str,
    ratio: float,
) -> Finding:
    """The effects of `factor` span at least `ratio` times as much as in each of `than`."""
    others = list(combinations(than))
    spreads = {words(of): _spread(evidence.anova(of, response), factor) for of in (where, *others)}
    large = spreads[words(where)]
    all_smaller = all(large >= ratio * spreads[words(of)] for of in others)
    text = ", ".join(f"{name} {spread:.4f}" for name, spread in spreads.items())
    return Finding(verdict=holds(all_smaller), evidence=f"effects of {factor} span: {text}")


def gap_grows(
    evidence: Evidence, *, along: Levels, response: str, factor: str, upper: str, lower: str
) -> Finding:
    """Effect of `upper` less that of `lower` grows from each level of `along` to the next."""
    gaps = {}
    for where in combinations(along):
        anova = evidence.anova(where, response)
        gap = _effect(anova, factor, upper).effect - _effect(anova, factor, lower).effect
        gaps[words(where)] = gap
    return _growing(gaps, f"{upper} less {lower}", "+.4f")


def share_ratio_grows(evidence: Evidence, *, along: Levels, response: str, factor: str) -> Finding:
    """The share of `factor`, over that of the other factors together, grows along `along`."""
    ratios = {}
    for where in combinations(along):
        anova = evidence.anova(where, response)
        names = [name for name in evidence.study.anova if name != factor]
        others = sum(anova.component(name).percent for name in names)
        share = anova.component(factor).percent
        ratios[words(where)] = share / others if others else float("inf")
    return _growing(ratios, f"share of {factor} over the others'", ".2f")


# ---- means and differences ----------------------------------------------------------------------


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
) -> Finding:
    """The mean over `of` less the mean over `minus` keeps the bounds given.

    With `for_each`, this for every combination of its levels on its own.
    """
    low = at_least if within is None else -within
    high = at_most if within is None else within
    verdicts, texts = [], []
    for levels in combinations(for_each or {}):
        found = evidence.contrast(where, response, {**of, **levels}, {**minus, **levels})
        verdicts.append(within_bounds(found.difference, found.half_width, low, high))
        texts.append(f"{_name(evidence, levels)} {found}".strip())
    return Finding(verdict=all_of(verdicts), evidence=", ".join(texts) + _bounds(low, high))


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
    found = {
        _name(evidence, levels): evidence.contrast(
            where, response, {**of, **levels}, {**minus, **levels}
        )
        for levels in combinations(for_each)
    }
    positive = sum(contrast.difference > 0 for contrast in found.values()) / len(found)
    verdict = Verdict.UNDECIDED
    if positive >= share or positive <= 1 - share:
        verdict = holds(positive >= share)
    text = ", ".join(f"{name} {contrast}" for name, contrast in found.items())
    return Finding(verdict=verdict, evidence=text)


def gain(
    evidence: Evidence,
    *,
    where: Levels,
    response: str,
    of: Levels,
    minus: Levels,
    at_least: float = 0.0,
) -> Finding:
    """Mean difference between two levels, cell by cell and seed by seed with all else equal."""
    found = estimate(_paired(evidence.of(where), response, of, minus))
    return Finding(
        verdict=_bounded(found, at_least, None),
        evidence=f"{response}, {words(of)} less {words(minus)}: {_text(found, '+.3f')}",
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
    large, small = (
        estimate(_paired(evidence.of(group), response, of, minus)) for group in (where, than)
    )
    return Finding(
        verdict=_apart(large, small),
        evidence=f"{response}, {words(of)} less {words(minus)}: {words(where)} "
        f"{_text(large, '+.3f')}, {words(than)} {_text(small, '+.3f')}",
    )


def mean_larger(
    evidence: Evidence,
    *,
    where: Levels,
    than: Levels,
    response: str,
    with_any: str | None = None,
    without: str | None = None,
) -> Finding:
    """The mean over all trials of some cells is larger than over those of others."""
    groups = [_values(evidence.of(group, with_any, without), response) for group in (where, than)]
    for group in groups:
        need(group, "cells in both groups")
    large, small = map(estimate, groups)
    text = f"{response}: {words(where)} {_text(large)}, {words(than)} {_text(small)}"
    return Finding(verdict=_apart(large, small), evidence=text)


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
    """The mean over all trials of the cells keeps the bound."""
    values = _values(evidence.of(where, with_any, without), response)
    need(values, "such a cell")
    found = estimate(values)
    return Finding(
        verdict=_bounded(found, at_least, at_most),
        evidence=f"mean {response} {_text(found)}{_limits(at_least, at_most)}",
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
    cells = evidence.of(where, with_any, without)
    means = {cell.name: value for cell, value in known_means(cells, response)}
    need(means, "such a cell")
    beyond = {
        name: value
        for name, value in means.items()
        if (at_least is not None and value < at_least) or (at_most is not None and value > at_most)
    }
    values = means.values()
    text = f"{response} {min(values):.3f} to {max(values):.3f} in {len(means)} cells"
    if beyond:
        text += f"; {len(beyond)} beyond: " + ", ".join(f"{n} {m:.3f}" for n, m in beyond.items())
    return Finding(verdict=holds(not beyond), evidence=text)


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
    values = _values(evidence.of(where, with_any, without), response)
    need(values, "such a cell")
    found = sum(value < below for value in values)
    text = f"{response} below {below} in {found} of {len(values)} trials"
    return Finding(verdict=holds(found >= share * len(values)), evidence=text)


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
    return Finding(verdict=holds(rising), evidence=text)


def not_in_the_testbed(evidence: Evidence, *, lacks: str) -> Finding:
    """A sentence about what the testbed has not."""
    del evidence
    return Finding(verdict=Verdict.UNDECIDED, evidence=f"not measured: {lacks}")


CHECKS: dict[str, Check] = {
    check.__name__: check
    for check in (
        factor_rank,
        share_at_most,
        separated,
        overlap,
        ordered,
        extreme,
        effects_within,
        spread_at_most,
        spread_larger,
        gap_grows,
        share_ratio_grows,
        difference,
        mostly_positive,
        gain,
        gain_larger,
        mean_larger,
        mean_bounded,
        each_bounded,
        share_below,
        grows,
        not_in_the_testbed,
    )
}
"""Names that `check` in a file of claims can have, whatever the study."""


# ---- what checks share --------------------------------------------------------------------------


def holds(true: bool) -> Verdict:
    """The verdict on a statement that is true or not."""
    return Verdict.HOLDS if true else Verdict.FAILS


def need(found: Sequence[object] | Mapping[str, object], what: str) -> None:
    """Raise NoEvidenceError where nothing was found."""
    if not found:
        raise NoEvidenceError(f"not measured: {what}")


def known_means(cells: Iterable[Cell], response: str) -> list[tuple[Cell, float]]:
    """The cells that have a response, each with its mean."""
    return [(cell, mean) for cell in cells if (mean := cell.mean(response)) is not None]


def within_bounds(
    mean: float, half_width: float | None, low: float | None, high: float | None
) -> Verdict:
    """Whether an estimate keeps its bounds; undecided where its interval crosses one."""
    half = half_width or 0.0
    least, most = mean - half, mean + half
    if (low is None or least >= low) and (high is None or most <= high):
        return Verdict.HOLDS
    if (low is not None and most < low) or (high is not None and least > high):
        return Verdict.FAILS
    return Verdict.UNDECIDED


def all_of(verdicts: Iterable[Verdict]) -> Verdict:
    """Fails if any part fails, is undecided if any part is, else holds."""
    found = set(verdicts)
    if Verdict.FAILS in found:
        return Verdict.FAILS
    return Verdict.UNDECIDED if Verdict.UNDECIDED in found else Verdict.HOLDS


def _effect(anova: Anova, factor: str, level: str) -> Effect:
    """The effect of a level; raises NoEvidenceError where the cells have it not."""
    if level not in anova.levels[factor]:
        raise NoEvidenceError(f"not measured: {anova.source} {level}")
    return anova.effect(factor, level)


def _above(first: Effect, second: Effect) -> bool:
    return first.low > second.high


def _spread(anova: Anova, factor: str) -> float:
    effects = [effect.effect for effect in anova.effects if effect.factors == (factor,)]
    return max(effects) - min(effects)


def _effects(evidence: Evidence, anova: Anova, factor: str, levels: Iterable[str]) -> str:
    texts = []
    for level in levels:
        effect = _effect(anova, factor, level)
        interval = f"({effect.low:+.4f}, {effect.high:+.4f})"
        texts.append(f"{evidence.study.level(factor, level)} {effect.effect:+.4f} {interval}")
    return ", ".join(texts)


def _name(evidence: Evidence, levels: Mapping[str, tuple[str]]) -> str:
    """A combination of levels in words."""
    return " ".join(evidence.study.level(factor, level) for factor, (level,) in levels.items())


def _growing(values: Mapping[str, float], name: str, form: str) -> Finding:
    grown = all(first < second for first, second in itertools.pairwise(values.values()))
    text = ", ".join(f"{where} {value:{form}}" for where, value in values.items())
    return Finding(verdict=holds(grown), evidence=f"{name}: {text}")


def _bounds(low: float | None, high: float | None) -> str:
    if low is not None and high is not None:
        return f" (from {low:g} to {high:g})"
    return f" (at least {low:g})" if low is not None else f" (at most {high:g})"


def _values(cells: Iterable[Cell], response: str) -> list[float]:
    return [value for cell in cells for value in cell.values(response)]


def _paired(cells: Sequence[Cell], response: str, of: Levels, minus: Levels) -> list[float]:
    """One difference a cell and seed that both have; NoEvidenceError when nothing makes a pair.

    Two cells make a pair when they differ in the factors of `of` alone.
    """
    base = {
        (_others(cell, minus), seed): value
        for cell in cells
        if cell.matches(minus)
        for seed, value in cell.metrics.get(response, {}).items()
    }
    found = [
        value - base[_others(cell, of), seed]
        for cell in cells
        if cell.matches(of)
        for seed, value in cell.metrics.get(response, {}).items()
        if (_others(cell, of), seed) in base
    ]
    need(found, f"{words(of)} and {words(minus)} in the same cell and seed")
    return found


def _others(cell: Cell, levels: Levels) -> frozenset[tuple[str, str]]:
    """The cell's levels of all other factors."""
    return frozenset(item for item in cell.levels.items() if item[0] not in levels)


def _bounded(found: Estimate, low: float | None, high: float | None) -> Verdict:
    if found.half_width is None:
        return Verdict.UNDECIDED
    return within_bounds(found.mean, found.half_width, low, high)


def _apart(first: Estimate, second: Estimate) -> Verdict:
    """Whether the first lies above the second, their intervals apart."""
    if first.half_width is None or second.half_width is None:
        return Verdict.UNDECIDED
    gap, needed = first.mean - second.mean, first.half_width + second.half_width
    return Verdict.UNDECIDED if abs(gap) <= needed else holds(gap > 0)


def _text(found: Estimate, form: str = ".3f") -> str:
    half = "" if found.half_width is None else f" ± {found.half_width:.3f}"
    return f"{found.mean:{form}}{half}"


def _limits(at_least: float | None, at_most: float | None) -> str:
    low = "" if at_least is None else f", at least {at_least:g}"
    return low + ("" if at_most is None else f", at most {at_most:g}")
