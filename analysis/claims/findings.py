# SPDX-License-Identifier: GPL-2.0-only
"""What a check finds: a verdict, and the figures that it rests on.

Two more verdicts follow from the figures, whatever the check. *Direction*: does the interval of
each figure lie on the side of 0 that the sentence claims? *Size*: could one seed of ours have
given the published figure (analysis/draws.py)? Where a claim has several figures, they are one
family, and each p is adjusted by Holm's rule.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from analysis.contrasts import Contrast, Form
from analysis.draws import OneDraw, one_draw
from analysis.families import holm
from analysis.statistics import CONFIDENCE

ALPHA = 1 - CONFIDENCE
Bounds = tuple[float | None, float | None]
"""The least and the most that a figure may be; None: no bound."""


class Verdict(Enum):
    """What became of a claim; the value is what a report says."""

    HOLDS = "holds"
    FAILS = "does not hold"
    UNDECIDED = "undecided"
    ONE_SEED = "one seed: no verdict"


class Side(Enum):
    """The side of 0 on which a sentence says that a figure lies; its value, as bounds."""

    ABOVE = (0.0, None)
    BELOW = (None, 0.0)
    NEITHER = (None, None)


class NoEvidenceError(Exception):
    """What a check needs was not measured; becomes the verdict 'undecided'."""


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A figure that a claim is about: of our seeds, and of the source.

    relative: it is the logarithm of a ratio. known_to: by how much the source's rounding can have
    changed the published one.
    """

    name: str
    measured: Contrast
    side: Side = Side.NEITHER
    relative: bool = False
    published: float | None = None
    known_to: float = 0.0

    def text(self, value: float) -> str:
        """A value of it as a reader sees it."""
        return f"{100 * math.expm1(value):+.1f} %" if self.relative else f"{value:+.4f}"

    @property
    def interval(self) -> str:
        """Its name, its mean and its interval."""
        middle, half = self.measured.difference, self.measured.half_width
        text = f"{self.name} {self.text(middle)}".strip()
        if half is None:
            return text
        if self.relative:
            return f"{text} ({self.text(middle - half)} to {self.text(middle + half)})"
        return f"{text} ± {half:.4f}"


@dataclass(frozen=True, kw_only=True)
class Judged:
    """A verdict, and a sentence with what it rests on."""

    verdict: Verdict
    evidence: str


@dataclass(frozen=True, kw_only=True)
class Finding(Judged):
    """What a check says of a claim as its author reads it, and the claim's figures."""

    figures: Sequence[Figure] = ()

    @property
    def direction(self) -> Judged | None:
        """Whether each figure lies on its side; None where the sentence claims no side."""
        sided = [figure for figure in self.figures if figure.side is not Side.NEITHER]
        return _direction(sided) if sided else None

    @property
    def size(self) -> Judged | None:
        """Whether the published figures are draws like ours; None where none is published."""
        both = [figure for figure in self.figures if figure.published is not None]
        return _size(both) if both else None


def _direction(figures: Sequence[Figure]) -> Judged:
    if any(figure.measured.half_width is None for figure in figures):
        return Judged(verdict=Verdict.ONE_SEED, evidence=intervals(figures))
    verdict = bounded(figures, [figure.side.value for figure in figures])
    return Judged(verdict=verdict, evidence=intervals(figures))


def _size(figures: Sequence[Figure]) -> Judged:
    draws = [(f, d) for f in figures if (d := one_draw(f.measured.draws)) is not None]
    if len(draws) < len(figures):
        single = all(figure.measured.form is Form.NONE for figure in figures)
        verdict = Verdict.ONE_SEED if single else Verdict.UNDECIDED
        return Judged(verdict=verdict, evidence="too few seeds have all its cells")
    p_values = [d.p_of(f.published or 0.0, f.known_to) for f, d in draws]
    outside = sum(p <= ALPHA for p in holm(p_values))
    texts = [_beside(figure, draw) for figure, draw in draws]
    return Judged(
        verdict=Verdict.FAILS if outside else Verdict.HOLDS,
        evidence=f"{', '.join(texts)} ({outside} of {len(texts)} outside{_family(figures)})",
    )


def _beside(figure: Figure, draw: OneDraw) -> str:
    published = figure.text(figure.published or 0.0)
    ours = f"{figure.text(draw.low)} to {figure.text(draw.high)}"
    return f"{figure.name} published {published}, one seed of ours {ours}".strip()


def intervals(figures: Sequence[Figure], untested: int = 0) -> str:
    """All figures of a verdict with their intervals, and how these were made.

    untested: figures of the same family that have no test.
    """
    return _with_intervals(figures, _family(figures, untested))


def some_intervals(figures: Sequence[Figure]) -> str:
    """The same of some of a verdict's figures: Holm's rule is not over these alone."""
    return _with_intervals(figures, "")


def _with_intervals(figures: Sequence[Figure], family: str) -> str:
    made = ", ".join(dict.fromkeys(figure.measured.made for figure in figures))
    return f"{', '.join(figure.interval for figure in figures)} ({made}{family})"


def _family(figures: Sequence[Figure], untested: int = 0) -> str:
    if len(figures) + untested < 2:
        return ""
    return f"; Holm over these {len(figures)}" + (f" and {untested} more" if untested else "")


def bounded(figures: Sequence[Figure], bounds: Sequence[Bounds]) -> Verdict:
    """Whether each figure keeps its bounds surely; fails where one surely does not.

    Surely: by Holm's adjusted p over the figures. Figures without an interval are compared as
    they are.
    """
    inside = [
        _inside(f.measured.difference, bound) for f, bound in zip(figures, bounds, strict=True)
    ]
    if any(figure.measured.half_width is None for figure in figures):
        return all_of(map(holds, inside))
    p_values = [_p(f.measured, bound) for f, bound in zip(figures, bounds, strict=True)]
    return all_of(
        holds(kept) if p <= ALPHA else Verdict.UNDECIDED
        for kept, p in zip(inside, holm(p_values), strict=True)
    )


def sure_sides(figures: Sequence[Figure], untested: int = 0) -> list[Side]:
    """The side of 0 on which each figure surely lies, by Holm's adjusted p over them all.

    untested: so many more figures belong to the family and have no test, so each has a p of 1.
    What the data leave of a family does not make it smaller.
    """
    tested = [p if (p := f.measured.p_against(0)) is not None else 1.0 for f in figures]
    p_values = holm([*tested, *[1.0] * untested])[: len(figures)]
    return [
        Side.NEITHER if p > ALPHA
        else Side.ABOVE if figure.measured.difference > 0
        else Side.BELOW
        for figure, p in zip(figures, p_values, strict=True)
    ]  # fmt: skip


def _inside(value: float, bounds: Bounds) -> bool:
    low, high = bounds
    return (low is None or value >= low) and (high is None or value <= high)


def _p(measured: Contrast, bounds: Bounds) -> float:
    """Of the nearest bound, which is the least sure: kept or broken."""
    return max((measured.p_against(to) or 0.0 for to in bounds if to is not None), default=0.0)


def holds(true: bool) -> Verdict:
    """The verdict on a statement that is true or not."""
    return Verdict.HOLDS if true else Verdict.FAILS


def all_of(verdicts: Iterable[Verdict]) -> Verdict:
    """Fails if any part fails, is undecided if any part is, else holds."""
    found = set(verdicts)
    if Verdict.FAILS in found:
        return Verdict.FAILS
    return Verdict.UNDECIDED if Verdict.UNDECIDED in found else Verdict.HOLDS
