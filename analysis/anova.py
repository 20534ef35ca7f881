# SPDX-License-Identifier: GPL-2.0-only
"""Analysis of variance of a full factorial design, as in Jain 1991 and 98-0876R1, section 8.1.

The model of a response y under factors A, B, C, with r replications each:

    y = mean + A_a + B_b + C_c + AB_ab + AC_ac + BC_bc + ... + error

    effect of a subset of factors  = mean of y at its levels - effects of all smaller subsets
    its sum of squares             = (observations at each of its level sets) * sum of effects^2
    error sum of squares           = what the model leaves
    s_e                            = sqrt(error sum of squares / error degrees of freedom)
    s of an effect                 = s_e * sqrt(degrees of freedom of its subset / observations)
    confidence interval            = effect +- t[1 - alpha/2; error degrees of freedom] * s

Without replications the error is estimated from the interactions of the highest orders, left
out of the model (for three factors the paper keeps main effects and first-order interactions,
which leaves 6 degrees of freedom). With replications it comes from the replications, and
interactions of all orders are in the model and can be tested.

With replications that are numbered alike in all cells (seeds), the number can be a block: trials of
one seed share their requests, so what a seed adds to all cells is no error. It takes

    sum of squares of the blocks   = (cells) * sum of (mean of a block - mean)^2

with (blocks - 1) degrees of freedom from the error's.

Source: R. Jain, The Art of Computer Systems Performance Analysis, Wiley 1991, chapters 20-23;
blocks: Montgomery, Design and Analysis of Experiments, chapter 4.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from analysis.errors import TableError
from analysis.table import Table

DEFAULT_CONFIDENCE = 0.90
"""Confidence of the intervals in 98-0876R1, section 8.1."""
PUBLISHED_ORDER = 2
"""Factors in the largest interaction of the model without replications (98-0876R1, 8.1)."""

FEWEST = 3
"""Replications below which deviations from the median say nothing of a cell's variance."""
UNLIKE = 0.05
"""The p of the test of equal variances below which a report says that they are not."""

Values = NDArray[np.float64]
Tensors = dict[tuple[int, ...], Values]
"""Effects of subsets of factors, keyed by their axes; the empty one is the overall mean."""


@dataclass(frozen=True, kw_only=True)
class Effect:
    """Effect of one level of a factor, or of one set of levels of several factors.

    `low` and `high` bound its confidence interval; all in the unit of the response.
    """

    factors: tuple[str, ...]
    levels: tuple[str, ...]
    effect: float
    low: float
    high: float

    @property
    def significant(self) -> bool:
        """Whether the interval excludes 0 (98-0876R1, 8.1, item 7)."""
        return self.low > 0 or self.high < 0


@dataclass(frozen=True, kw_only=True)
class Component:
    """Share of the variation that a factor, an interaction or the error explains.

    `f` and `p` are None for the error, and where the error is 0.
    """

    factors: tuple[str, ...]
    sum_of_squares: float
    percent: float
    degrees_of_freedom: int
    mean_square: float
    f: float | None
    p: float | None


@dataclass(frozen=True, kw_only=True)
class Spread:
    """Brown and Forsythe's test (1974) that all cells have the same variance, and the cells'
    least and largest standard deviation, each without what its block adds."""

    statistic: float
    p: float
    least: float
    largest: float

    @property
    def unlike(self) -> bool:
        """Whether one error for all cells is wrong."""
        return self.p < UNLIKE

    def __str__(self) -> str:
        alike = "differ too much to pool" if self.unlike else "are alike"
        return (
            f"the variances of the cells {alike} (Brown-Forsythe {self.statistic:.2f}, "
            f"p {self.p:.2g}; standard deviations {self.least:.3g} to {self.largest:.3g})"
        )


@dataclass(frozen=True, kw_only=True)
class Anova:
    """Outcome of one analysis of variance; sums of squares in the response's unit squared.

    block: of the replications, where they are one. spread: whether cells scatter alike; None with
    fewer than FEWEST replications.
    """

    source: str
    response: str
    levels: dict[str, tuple[str, ...]]
    observations: int
    replications: int
    confidence: float
    overall_mean: float
    individual_values: float
    mean_sum_of_squares: float
    total_variation: float
    components: tuple[Component, ...]
    error: Component
    block: Component | None
    spread: Spread | None
    standard_error: float
    effects: tuple[Effect, ...]
    interactions: tuple[Effect, ...]

    def component(self, *factors: str) -> Component:
        """The share of a factor, or of the interaction of several, in any order."""
        wanted = frozenset(factors)
        for component in self.components:
            if frozenset(component.factors) == wanted:
                return component
        raise KeyError(factors)

    def effect(self, factor: str, level: str) -> Effect:
        """The main effect of one level."""
        for effect in self.effects:
            if effect.factors == (factor,) and effect.levels == (level,):
                return effect
        raise KeyError((factor, level))


def analyse(
    table: Table,
    response: str,
    factors: Sequence[str],
    *,
    confidence: float = DEFAULT_CONFIDENCE,
    order: int | None = None,
    block: str | None = None,
) -> Anova:
    """Analysis of variance of column `response` under columns `factors`.

    block: a column that numbers the replications, each number once in every cell.

    order: factors in the largest interaction of the model; by default all of them with
    replications, else 2 or one below the number of factors, whichever is less.
    Raises TableError on a missing or non-numeric column, on a design that is not a balanced
    full factorial, on blocks that are not whole, and when no degree of freedom is left for the
    error.
    """
    _check_request(table, response, [*factors, *([block] if block else [])], confidence)
    request = _Request(
        source=table.source,
        response=response,
        levels={factor: table.levels(factor) for factor in factors},
        confidence=confidence,
    )
    values = _array(table, request, block)
    order = _model_order(table.source, values, len(factors), order)
    return _outcome(request, values, _effect_tensors(values, order), block)


@dataclass(frozen=True, kw_only=True)
class _Request:
    """What is analysed: a response under factors with their levels, an axis a factor."""

    source: str
    response: str
    levels: dict[str, tuple[str, ...]]
    confidence: float

    def names(self, axes: tuple[int, ...]) -> tuple[str, ...]:
        """Factors of the given axes."""
        known = tuple(self.levels)
        return tuple(known[axis] for axis in axes)


def _check_request(table: Table, response: str, factors: Sequence[str], confidence: float) -> None:
    if not 0 < confidence < 1:
        raise TableError(f"the confidence is {confidence}, but must be between 0 and 1")
    if not factors:
        raise TableError(f"{table.source}: name at least one factor")
    table.require(response, *factors)
    for factor in factors:
        if factor == response or list(factors).count(factor) > 1:
            raise TableError(f"{table.source}: column '{factor}' is named twice")
        if len(table.levels(factor)) == 1:
            only = table.levels(factor)[0]
            raise TableError(f"{table.source}: column '{factor}' has one level only ('{only}')")


def _array(table: Table, request: _Request, block: str | None) -> Values:
    """Responses as an array: an axis a factor, in order, and a last axis of replications.

    The replications of all cells are in the order of the blocks, where there are any.
    """
    levels, response = request.levels, request.response
    cells: dict[tuple[str, ...], list[float]] = {
        combination: [] for combination in itertools.product(*levels.values())
    }
    rows = list(zip(table.rows, table.numbers(response), strict=True))
    if block is not None:
        _check_blocks(table, request, block)
        numbers = table.levels(block)
        rows.sort(key=lambda both: numbers.index(both[0][block]))
    for row, value in rows:
        cells[tuple(row[factor] for factor in levels)].append(value)
    usual = max(len(found) for found in cells.values())
    for combination, found in cells.items():
        if len(found) != usual:
            text = ", ".join(f"{k}={v}" for k, v in zip(levels, combination, strict=True))
            raise TableError(
                f"{table.source}: unbalanced design in column '{response}': "
                f"{len(found)} row(s) for {text}, {usual} elsewhere"
            )
    shape = (*(len(names) for names in levels.values()), usual)
    return np.array(list(cells.values()), dtype=float).reshape(shape)


def _check_blocks(table: Table, request: _Request, block: str) -> None:
    """Each block has each cell once."""
    seen = [(row[block], *(row[factor] for factor in request.levels)) for row in table.rows]
    cells = math.prod(map(len, request.levels.values()))
    if len(set(seen)) != len(seen) or len(seen) != cells * len(table.levels(block)):
        raise TableError(
            f"{table.source}: column '{block}' cannot be a block: each of its levels must have "
            "each combination of the factors once"
        )


def _model_order(source: str, values: Values, factors: int, order: int | None) -> int:
    """Factors in the largest interaction of the model, checked to leave an error."""
    replicated = values.shape[-1] > 1
    largest = factors if replicated else factors - 1
    if largest == 0:
        raise TableError(
            f"{source}: with one factor and one row for each level, the error cannot be estimated; "
            f"give each level two rows or more"
        )
    if order is None:
        return largest if replicated else min(PUBLISHED_ORDER, largest)
    if not 1 <= order <= largest:
        raise TableError(
            f"{source}: the model cannot have interactions of {order} factors; allowed are "
            f"1 to {largest}"
        )
    return order


def _effect_tensors(values: Values, order: int) -> Tensors:
    """Effects of each subset of up to `order` factors, keyed by its axes.

    Each has as many axes as `values`, of length 1 where the subset lacks the factor.
    The empty subset is the overall mean.
    """
    axes = range(values.ndim - 1)
    tensors: Tensors = {}
    for size in range(order + 1):
        for subset in itertools.combinations(axes, size):
            others = tuple(axis for axis in range(values.ndim) if axis not in subset)
            effect = values.mean(axis=others, keepdims=True)
            for smaller, tensor in tensors.items():
                if set(smaller) < set(subset):
                    effect = effect - tensor
            tensors[subset] = effect
    return tensors


def _outcome(request: _Request, values: Values, tensors: Tensors, block: str | None) -> Anova:
    mean = float(values.mean())
    total = float(((values - mean) ** 2).sum())
    if total == 0:
        raise TableError(
            f"{request.source}: all values of column '{request.response}' are equal: "
            "there is no variance to analyse"
        )
    blocks = None if block is None else values.mean(axis=tuple(range(values.ndim - 1))) - mean
    error = _error(values, tensors, total, blocks)
    standard_error = math.sqrt(error.mean_square)
    effects = _effects(request, values, tensors, error)
    return Anova(
        source=request.source,
        response=request.response,
        levels=request.levels,
        observations=values.size,
        replications=values.shape[-1],
        confidence=request.confidence,
        overall_mean=mean,
        individual_values=float((values**2).sum()),
        mean_sum_of_squares=values.size * mean**2,
        total_variation=total,
        components=_components(request, values, tensors, total, error),
        error=error,
        block=None if blocks is None else _block(block or "", blocks, values, total, error),
        spread=_spread(values if blocks is None else values - blocks),
        standard_error=standard_error,
        effects=tuple(effect for effect in effects if len(effect.factors) == 1),
        interactions=tuple(effect for effect in effects if len(effect.factors) > 1),
    )


def _freedom(values: Values, subset: tuple[int, ...]) -> int:
    """Degrees of freedom of a subset of factors: the product of (levels - 1)."""
    return math.prod(values.shape[axis] - 1 for axis in subset)


def _error(values: Values, tensors: Tensors, total: float, blocks: Values | None) -> Component:
    left = values - sum(tensors.values())
    freedom = values.size - sum(_freedom(values, subset) for subset in tensors)
    if blocks is not None:
        left, freedom = left - blocks, freedom - (len(blocks) - 1)
    squares = float((left**2).sum())
    return Component(
        factors=(),
        sum_of_squares=squares,
        percent=100 * squares / total,
        degrees_of_freedom=freedom,
        mean_square=squares / freedom,
        f=None,
        p=None,
    )


def _block(name: str, blocks: Values, values: Values, total: float, error: Component) -> Component:
    squares = float((blocks**2).sum()) * values.size / len(blocks)
    return _component((name,), squares, len(blocks) - 1, total, error)


def _spread(values: Values) -> Spread | None:
    """Of the cells, without what the blocks add; None where a cell says nothing, or all is 0.

    The test compares distances from the cells' medians. It has no error of its own, and says
    nothing, if these distances are equal within each cell.
    """
    if values.shape[-1] < FEWEST:
        return None
    cells = values.reshape(-1, values.shape[-1])
    deviations = cells.std(axis=1, ddof=1)
    distances = np.abs(cells - np.median(cells, axis=1, keepdims=True))
    if not np.ptp(distances, axis=1).any():
        return None
    found = stats.levene(*cells, center="median")
    return Spread(
        statistic=float(found.statistic),
        p=float(found.pvalue),
        least=float(deviations.min()),
        largest=float(deviations.max()),
    )


def _component(
    factors: tuple[str, ...], squares: float, freedom: int, total: float, error: Component
) -> Component:
    f = squares / freedom / error.mean_square if error.mean_square > 0 else None
    return Component(
        factors=factors,
        sum_of_squares=squares,
        percent=100 * squares / total,
        degrees_of_freedom=freedom,
        mean_square=squares / freedom,
        f=f,
        p=None if f is None else float(stats.f.sf(f, freedom, error.degrees_of_freedom)),
    )


def _components(
    request: _Request, values: Values, tensors: Tensors, total: float, error: Component
) -> tuple[Component, ...]:
    components = []
    for subset, tensor in tensors.items():
        if not subset:
            continue
        squares = float((tensor**2).sum() * values.size / tensor.size)
        freedom = _freedom(values, subset)
        components.append(_component(request.names(subset), squares, freedom, total, error))
    return tuple(components)


def _effects(request: _Request, values: Values, tensors: Tensors, error: Component) -> list[Effect]:
    quantile = float(stats.t.ppf((1 + request.confidence) / 2, error.degrees_of_freedom))
    effects = []
    for subset, tensor in tensors.items():
        if not subset:
            continue
        names = request.names(subset)
        deviation = math.sqrt(error.mean_square * _freedom(values, subset) / values.size)
        combinations = itertools.product(*(request.levels[name] for name in names))
        effects += [
            Effect(
                factors=names,
                levels=combination,
                effect=value,
                low=value - quantile * deviation,
                high=value + quantile * deviation,
            )
            for combination, value in zip(combinations, tensor.ravel().tolist(), strict=True)
        ]
    return effects
