# SPDX-License-Identifier: GPL-2.0-only
"""Checks by an analysis of variance of the cells that are meant.

Their intervals of effects are the ANOVA's 90 % ones: two levels are separated when their
intervals do not overlap (98-0876R1, section 8.1, item 7). The figures of each check, for its
direction and size, are those of each seed: the effects of two levels differ by the means of the
cells that have them, and shares and spreads are computed of each seed alone.
"""

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from analysis.anova import Anova, Effect
from analysis.cells import Levels
from analysis.claims.evidence import Evidence, combinations, equal, words
from analysis.claims.findings import Figure, Finding, NoEvidenceError, Side, Verdict, all_of, holds


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
    figures = []
    for at, other in enumerate((name for name in order if name != factor), start=1):

        def less(draw: Evidence, other: str = other) -> float:
            found = draw.anova(where, response)
            return found.component(factor).percent - found.component(other).percent

        side = Side.BELOW if at < rank else Side.ABOVE
        figures.append(evidence.statistic(f"% of {factor} minus that of {other}", less, side))
    return Finding(verdict=verdict, evidence=text, figures=figures)


def share_at_most(
    evidence: Evidence, *, where: Levels, response: str, factor: str, percent: float
) -> Finding:
    """`factor` explains at most `percent` of the variation."""

    def share(draw: Evidence) -> float:
        return draw.anova(where, response).component(factor).percent

    found = share(evidence)
    return Finding(
        verdict=holds(found <= percent),
        evidence=f"{factor} explains {found:.2f} % (limit {percent} %)",
        figures=[evidence.statistic(f"% of {factor}", share)],
    )


def share_larger(
    evidence: Evidence, *, for_each: Levels, response: str, factor: str, than: str
) -> Finding:
    """In each level of `for_each` a factor explains more of the variation than another."""
    texts, larger, figures = [], [], []
    for where in combinations(for_each):

        def less(draw: Evidence, where: Levels = where) -> float:
            first, second = (
                draw.anova(where, response).component(name).percent for name in (factor, than)
            )
            return first - second

        larger.append(less(evidence) > 0)
        name = f"{words(where)}: % of {factor} minus that of {than}"
        figures.append(evidence.statistic(name, less, Side.ABOVE))
        texts.append(f"{name} {less(evidence):.2f}")
    return Finding(verdict=holds(all(larger)), evidence="; ".join(texts), figures=figures)


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
    pairs = list(itertools.product(upper, lower))
    verdict = all_of(
        Verdict.HOLDS if _above(anova, factor, high, low)
        else Verdict.FAILS if _above(anova, factor, low, high)
        else Verdict.UNDECIDED
        for high, low in pairs
    )  # fmt: skip
    return Finding(
        verdict=verdict,
        evidence=_effects(evidence, anova, factor, (*upper, *lower)),
        figures=_less(evidence, where, response, factor, pairs, Side.ABOVE),
    )


def overlap(
    evidence: Evidence, *, where: Levels, response: str, factor: str, levels: Sequence[str]
) -> Finding:
    """The intervals of `levels` overlap, each with each: none can be told from another."""
    anova = evidence.anova(where, response)
    pairs = list(itertools.combinations(levels, 2))
    apart = any(_above(anova, factor, a, b) or _above(anova, factor, b, a) for a, b in pairs)
    return Finding(
        verdict=holds(not apart),
        evidence=_effects(evidence, anova, factor, levels),
        figures=_less(evidence, where, response, factor, pairs, Side.NEITHER),
    )


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
    verdict = all_of(
        _in_order(anova, factor, better, worse)
        for better, worse in itertools.combinations(best_to_worst, 2)
    )
    neighbours = list(itertools.pairwise(best_to_worst))
    return Finding(
        verdict=verdict,
        evidence=_effects(evidence, anova, factor, best_to_worst),
        figures=_less(evidence, where, response, factor, neighbours, Side.ABOVE),
    )


def extreme(
    evidence: Evidence, *, where: Levels, response: str, factor: str, level: str, best: bool
) -> Finding:
    """`level` has the best (or worst) effect; undecided where it is not, but overlaps that one."""
    anova = evidence.anova(where, response)
    others = [name for name in anova.levels[factor] if name != level]
    orders = [(level, other) if best else (other, level) for other in others]
    return Finding(
        verdict=all_of(_in_order(anova, factor, *pair) for pair in orders),
        evidence=_effects(evidence, anova, factor, anova.levels[factor]),
        figures=_less(evidence, where, response, factor, orders, Side.ABOVE),
    )


def effects_within(
    evidence: Evidence, *, where: Levels, response: str, limit: float, enclosing: int = 0
) -> Finding:
    """No main effect is larger than `limit`; at least `enclosing` of their intervals enclose 0."""

    def largest_of(draw: Evidence) -> Effect:
        return max(draw.anova(where, response).effects, key=lambda effect: abs(effect.effect))

    effects, largest = evidence.anova(where, response).effects, largest_of(evidence)
    name = evidence.study.level(largest.factors[0], largest.levels[0])
    found = sum(not effect.significant for effect in effects)
    text = (
        f"largest effect {largest.effect:+.4f} ({name}), limit {limit}; "
        f"{found} of {len(effects)} intervals enclose 0"
    )
    return Finding(
        verdict=holds(abs(largest.effect) <= limit and found >= enclosing),
        evidence=text,
        figures=[evidence.statistic("largest effect", lambda draw: abs(largest_of(draw).effect))],
    )


def spread_at_most(
    evidence: Evidence, *, where: Levels, response: str, factor: str, limit: float
) -> Finding:
    """The effects of the levels of `factor` are at most `limit` apart."""

    def spread(draw: Evidence) -> float:
        return _spread(draw.anova(where, response), factor)

    found = spread(evidence)
    return Finding(
        verdict=holds(found <= limit),
        evidence=f"effects of {factor} span {found:.4f} (limit {limit})",
        figures=[evidence.statistic(f"span of {factor}", spread)],
    )


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
    figures = []
    for other in others:

        def less(draw: Evidence, other: Levels = other) -> float:
            first, second = (draw.anova(levels, response) for levels in (where, other))
            return _spread(first, factor) - _spread(second, factor)

        name = f"span of {factor}, {words(where)} minus {words(other)}"
        figures.append(evidence.statistic(name, less, Side.ABOVE))
    return Finding(
        verdict=holds(all_smaller), evidence=f"effects of {factor} span: {text}", figures=figures
    )


def gap_grows(
    evidence: Evidence, *, along: Levels, response: str, factor: str, upper: str, lower: str
) -> Finding:
    """Effect of `upper` less that of `lower` grows from each level of `along` to the next."""
    gaps = {}
    for where in combinations(along):
        anova = evidence.anova(where, response)
        gap = _effect(anova, factor, upper).effect - _effect(anova, factor, lower).effect
        gaps[words(where)] = gap
    figures = [
        evidence.figure(
            f"{words(next_)} minus {words(where)}",
            response,
            [
                (sign * weight, cell)
                for sign, levels in ((1, next_), (-1, where))
                for level, of in ((upper, 1), (lower, -1))
                for weight, cell in equal(evidence.of({**levels, factor: [level]}), of)
            ],
            Side.ABOVE,
        )
        for where, next_ in itertools.pairwise(combinations(along))
    ]
    return _growing(gaps, f"{upper} minus {lower}", "+.4f", figures)


def share_ratio_grows(evidence: Evidence, *, along: Levels, response: str, factor: str) -> Finding:
    """The share of `factor`, over that of the other factors together, grows along `along`."""

    def ratio(draw: Evidence, where: Levels) -> float:
        anova = draw.anova(where, response)
        names = [name for name in draw.study.anova if name != factor]
        others = sum(anova.component(name).percent for name in names)
        share = anova.component(factor).percent
        return share / others if others else math.inf

    def growth(draw: Evidence, before: Levels, after: Levels) -> float:
        ratios = [ratio(draw, where) for where in (before, after)]
        if not all(0 < found < math.inf for found in ratios):
            raise NoEvidenceError(f"not measured: a ratio of shares {ratios}")
        return math.log(ratios[1] / ratios[0])

    found = {words(where): ratio(evidence, where) for where in combinations(along)}
    figures = [
        evidence.statistic(
            f"log of the ratio, {words(after)} minus {words(before)}",
            partial(growth, before=before, after=after),
            Side.ABOVE,
        )
        for before, after in itertools.pairwise(combinations(along))
    ]
    return _growing(found, f"share of {factor} over the others'", ".2f", figures)


def _less(
    evidence: Evidence,
    where: Levels,
    response: str,
    factor: str,
    pairs: Iterable[tuple[str, str]],
    side: Side,
) -> list[Figure]:
    """The effect of a level less that of another, for each pair."""
    return [
        evidence.difference(f"{a} minus {b}", where, response, {factor: [a]}, {factor: [b]}, side)
        for a, b in pairs
    ]


def _in_order(anova: Anova, factor: str, better: str, worse: str) -> Verdict:
    if _effect(anova, factor, better).effect > _effect(anova, factor, worse).effect:
        return Verdict.HOLDS
    return Verdict.FAILS if _above(anova, factor, worse, better) else Verdict.UNDECIDED


def _effect(anova: Anova, factor: str, level: str) -> Effect:
    """The effect of a level; raises NoEvidenceError where the cells have it not."""
    if level not in anova.levels[factor]:
        raise NoEvidenceError(f"not measured: {anova.source} {level}")
    return anova.effect(factor, level)


def _above(anova: Anova, factor: str, first: str, second: str) -> bool:
    return _effect(anova, factor, first).low > _effect(anova, factor, second).high


def _spread(anova: Anova, factor: str) -> float:
    effects = [effect.effect for effect in anova.effects if effect.factors == (factor,)]
    return max(effects) - min(effects)


def _effects(evidence: Evidence, anova: Anova, factor: str, levels: Iterable[str]) -> str:
    texts = []
    for level in levels:
        effect = _effect(anova, factor, level)
        interval = f"({effect.low:+.4f}, {effect.high:+.4f})"
        texts.append(f"{evidence.study.level(factor, level)} {effect.effect:+.4f} {interval}")
    unlike = f"; {anova.spread}" if anova.spread and anova.spread.unlike else ""
    return ", ".join(texts) + unlike


def _growing(
    values: Mapping[str, float], name: str, form: str, figures: Sequence[Figure]
) -> Finding:
    grown = all(first < second for first, second in itertools.pairwise(values.values()))
    text = ", ".join(f"{where} {value:{form}}" for where, value in values.items())
    return Finding(verdict=holds(grown), evidence=f"{name}: {text}", figures=figures)
