# SPDX-License-Identifier: GPL-2.0-only
"""The checks that a published conclusion can name, each giving a verdict and its evidence.

A check is a function of the evidence and of the conclusion's parameters (its keyword
arguments, all from `conclusions.toml`). Intervals of effects are the ANOVA's 90 % ones: two
levels are separated when their intervals do not overlap (98-0876R1, section 8.1, item 7).
Bounds on differences are judged by their 95 % interval over the seeds, where there are seeds.
"""

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from analysis.anova import Anova, Effect
from analysis.evidence import FACTORS, Evidence, Levels, NoEvidenceError


class Verdict(Enum):
    """What became of a conclusion; the value is what a report says."""

    HOLDS = "holds"
    FAILS = "does not hold"
    UNDECIDED = "undecided"


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A verdict and the figures it rests on, one sentence."""

    verdict: Verdict
    evidence: str


Check = Callable[..., Finding]


def factor_rank(
    evidence: Evidence,
    *,
    network: str,
    response: str,
    factor: str,
    rank: int,
    margin_percent: float = 1.0,
) -> Finding:
    """`factor` has the rank-th largest share of the variation among the main effects.

    Undecided when those nearer than `margin_percent` points could put it there, or away from it.
    """
    anova = evidence.anova(network, response)
    shares = {name: anova.component(name).percent for name in FACTORS}
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
    evidence: Evidence, *, network: str, response: str, factor: str, percent: float
) -> Finding:
    """`factor` explains at most `percent` of the variation."""
    share = evidence.anova(network, response).component(factor).percent
    verdict = Verdict.HOLDS if share <= percent else Verdict.FAILS
    return Finding(verdict=verdict, evidence=f"{factor} explains {share:.2f} % (limit {percent} %)")


def separated(
    evidence: Evidence,
    *,
    network: str,
    response: str,
    factor: str,
    upper: Sequence[str],
    lower: Sequence[str],
) -> Finding:
    """Every effect in `upper` lies above every one in `lower`, their intervals apart.

    Undecided where intervals overlap, whichever of the two effects is the larger.
    """
    anova = evidence.anova(network, response)
    pairs = [
        (_effect(anova, factor, high), _effect(anova, factor, low))
        for high in upper
        for low in lower
    ]  # fmt: skip
    verdict = _all_of(
        Verdict.HOLDS if _above(first, second)
        else Verdict.FAILS if _above(second, first)
        else Verdict.UNDECIDED
        for first, second in pairs
    )  # fmt: skip
    return Finding(verdict=verdict, evidence=_effects_text(anova, factor, (*upper, *lower)))


def overlap(
    evidence: Evidence, *, network: str, response: str, factor: str, levels: Sequence[str]
) -> Finding:
    """The intervals of `levels` overlap, each with each: none can be told from another."""
    anova = evidence.anova(network, response)
    effects = [_effect(anova, factor, level) for level in levels]
    apart = any(_above(a, b) or _above(b, a) for a, b in itertools.combinations(effects, 2))
    verdict = Verdict.FAILS if apart else Verdict.HOLDS
    return Finding(verdict=verdict, evidence=_effects_text(anova, factor, levels))


def ordered(
    evidence: Evidence, *, network: str, response: str, factor: str, best_to_worst: Sequence[str]
) -> Finding:
    """The effects come in the order given; undecided where swapped ones overlap."""
    anova = evidence.anova(network, response)
    effects = [_effect(anova, factor, level) for level in best_to_worst]
    verdict = _all_of(
        Verdict.HOLDS if better.effect > worse.effect
        else Verdict.FAILS if _above(worse, better)
        else Verdict.UNDECIDED
        for better, worse in itertools.combinations(effects, 2)
    )  # fmt: skip
    return Finding(verdict=verdict, evidence=_effects_text(anova, factor, best_to_worst))


def extreme(
    evidence: Evidence, *, network: str, response: str, factor: str, level: str, best: bool
) -> Finding:
    """`level` has the best (or worst) effect; undecided where it is not, but overlaps that one."""
    anova = evidence.anova(network, response)
    others = [name for name in anova.levels[factor] if name != level]
    orders = [(level, other) if best else (other, level) for other in others]
    found = [
        ordered(evidence, network=network, response=response, factor=factor, best_to_worst=pair)
        for pair in orders
    ]
    text = _effects_text(anova, factor, anova.levels[factor])
    return Finding(verdict=_all_of(finding.verdict for finding in found), evidence=text)


def effects_within(evidence: Evidence, *, network: str, response: str, limit: float) -> Finding:
    """No main effect of any factor is larger than `limit`, in either direction."""
    effects = evidence.anova(network, response).effects
    largest = max(effects, key=lambda effect: abs(effect.effect))
    name = _level(largest.factors[0], largest.levels[0])
    enclosing = sum(not effect.significant for effect in effects)
    verdict = Verdict.HOLDS if abs(largest.effect) <= limit else Verdict.FAILS
    text = (
        f"largest effect {largest.effect:+.4f} ({name}), limit {limit}; "
        f"{enclosing} of {len(effects)} intervals enclose 0"
    )
    return Finding(verdict=verdict, evidence=text)


def spread_at_most(
    evidence: Evidence, *, network: str, response: str, factor: str, limit: float
) -> Finding:
    """The effects of the levels of `factor` are at most `limit` apart."""
    spread = _spread(evidence.anova(network, response), factor)
    verdict = Verdict.HOLDS if spread <= limit else Verdict.FAILS
    text = f"effects of {factor} span {spread:.4f} (limit {limit})"
    return Finding(verdict=verdict, evidence=text)


def difference(
    evidence: Evidence,
    *,
    network: str,
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
    for levels in _combinations(for_each or {}):
        found = evidence.contrast(network, response, {**of, **levels}, {**minus, **levels})
        verdicts.append(within_bounds(found.difference, found.half_width, low, high))
        texts.append(f"{_name(levels)} {found}".strip())
    return Finding(verdict=_all_of(verdicts), evidence=", ".join(texts) + _bounds_text(low, high))


def mostly_positive(
    evidence: Evidence,
    *,
    network: str,
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
        _name(levels): evidence.contrast(network, response, {**of, **levels}, {**minus, **levels})
        for levels in _combinations(for_each)
    }
    positive = sum(contrast.difference > 0 for contrast in found.values()) / len(found)
    verdict = Verdict.UNDECIDED
    if positive >= share or positive <= 1 - share:
        verdict = Verdict.HOLDS if positive >= share else Verdict.FAILS
    text = ", ".join(f"{name} {contrast}" for name, contrast in found.items())
    return Finding(verdict=verdict, evidence=text)


def gap_grows(
    evidence: Evidence,
    *,
    response: str,
    factor: str,
    upper: str,
    lower: str,
    networks: Sequence[str],
) -> Finding:
    """Effect of `upper` less that of `lower` grows from each network to the next."""
    gaps = []
    for network in networks:
        anova = evidence.anova(network, response)
        gaps.append(_effect(anova, factor, upper).effect - _effect(anova, factor, lower).effect)
    return _growing(networks, gaps, f"{upper} less {lower}", "+.4f")


def spread_larger(
    evidence: Evidence,
    *,
    response: str,
    factor: str,
    network: str,
    than: Sequence[str],
    ratio: float,
) -> Finding:
    """The effects of `factor` span at least `ratio` times as much in `network` as in `than`."""
    spreads = {name: _spread(evidence.anova(name, response), factor) for name in (network, *than)}
    holds = all(spreads[network] >= ratio * spreads[name] for name in than)
    text = ", ".join(f"{name} {spread:.4f}" for name, spread in spreads.items())
    verdict = Verdict.HOLDS if holds else Verdict.FAILS
    return Finding(verdict=verdict, evidence=f"effects of {factor} span: {text}")


def share_ratio_grows(
    evidence: Evidence, *, response: str, factor: str, networks: Sequence[str]
) -> Finding:
    """The share of `factor`, over that of the other factors together, grows along `networks`."""
    ratios = []
    for network in networks:
        anova = evidence.anova(network, response)
        others = sum(anova.component(name).percent for name in FACTORS if name != factor)
        ratios.append(anova.component(factor).percent / others if others else float("inf"))
    return _growing(networks, ratios, f"share of {factor} over the others'", ".2f")


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
        difference,
        mostly_positive,
        gap_grows,
        spread_larger,
        share_ratio_grows,
    )
}
"""Names that `check` in `conclusions.toml` can have."""


def _all_of(verdicts: Iterable[Verdict]) -> Verdict:
    """Fails if any part fails, is undecided if any part is, else holds."""
    found = set(verdicts)
    if Verdict.FAILS in found:
        return Verdict.FAILS
    return Verdict.UNDECIDED if Verdict.UNDECIDED in found else Verdict.HOLDS


def _effect(anova: Anova, factor: str, level: str) -> Effect:
    """The effect of a level; raises NoEvidenceError where the network's cells have it not."""
    if level not in anova.levels[factor]:
        raise NoEvidenceError(f"not measured: {anova.source} {level}")
    return anova.effect(factor, level)


def _above(first: Effect, second: Effect) -> bool:
    return first.low > second.high


def _spread(anova: Anova, factor: str) -> float:
    effects = [effect.effect for effect in anova.effects if effect.factors == (factor,)]
    return max(effects) - min(effects)


def _combinations(levels: Levels) -> list[dict[str, tuple[str]]]:
    return [
        {factor: (level,) for factor, level in zip(levels, combination, strict=True)}
        for combination in itertools.product(*levels.values())
    ]


def _name(levels: Levels) -> str:
    """A combination of levels in words."""
    return " ".join(_level(factor, level[0]) for factor, level in levels.items())


def _level(factor: str, level: str) -> str:
    return f"{level} RTT" if factor == "buffer" else level


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


def _bounds_text(low: float | None, high: float | None) -> str:
    if low is not None and high is not None:
        return f" (from {low:g} to {high:g})"
    return f" (at least {low:g})" if low is not None else f" (at most {high:g})"


def _growing(networks: Sequence[str], values: Sequence[float], name: str, form: str) -> Finding:
    grows = all(first < second for first, second in itertools.pairwise(values))
    text = ", ".join(f"{n} {v:{form}}" for n, v in zip(networks, values, strict=True))
    verdict = Verdict.HOLDS if grows else Verdict.FAILS
    return Finding(verdict=verdict, evidence=f"{name}: {text}")


def _effects_text(anova: Anova, factor: str, levels: Iterable[str]) -> str:
    texts = []
    for level in levels:
        effect = _effect(anova, factor, level)
        interval = f"({effect.low:+.4f}, {effect.high:+.4f})"
        texts.append(f"{_level(factor, level)} {effect.effect:+.4f} {interval}")
    return ", ".join(texts)
