# SPDX-License-Identifier: GPL-2.0-only
"""Where one more draw would lie: prediction intervals.

A published figure is one run of one simulation: one draw. The interval of our mean says where the
mean of many seeds lies; a single draw scatters more:

    mean ± t[0.975; n - 1] * s * sqrt(1 + 1/n)

for n seeds with the standard deviation s. A draw outside cannot be told by chance alone, at 95 %.
The draws are taken to be normal: near a bound, as of an index at most 1, this is approximate.

Source: Jain 1991, chapter 13; Hahn and Meeker 1991, Statistical Intervals, section 4.7.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from scipy import stats

from analysis.cells import Cell
from analysis.contrasts import ROUNDING, two_sided
from analysis.statistics import CONFIDENCE, mean


@dataclass(frozen=True, kw_only=True)
class OneDraw:
    """Where one more draw lies, at 95 %, by n draws."""

    mean: float
    deviation: float
    freedom: int

    @property
    def half_width(self) -> float:
        return float(stats.t.ppf((1 + CONFIDENCE) / 2, self.freedom)) * self.deviation

    @property
    def low(self) -> float:
        return self.mean - self.half_width

    @property
    def high(self) -> float:
        return self.mean + self.half_width

    def p_of(self, draw: float, known_to: float = 0.0) -> float:
        """The chance that a draw lies as far off as this one, either way.

        known_to: the draw is printed rounded, and was within this of what is printed.
        """
        distance = max(0.0, abs(draw - self.mean) - known_to)
        return two_sided(distance, self.deviation, self.freedom)


def one_draw(values: Sequence[float]) -> OneDraw | None:
    """By some draws; None where there are fewer than two."""
    n = len(values)
    if n < 2:
        return None
    centre = mean(values)
    variance = math.fsum((value - centre) ** 2 for value in values) / (n - 1)
    floor = ROUNDING * max(map(abs, values))
    deviation = max(math.sqrt(variance * (1 + 1 / n)), floor)
    return OneDraw(mean=centre, deviation=deviation, freedom=n - 1)


@dataclass(frozen=True, kw_only=True)
class Outside:
    """Of how many published cells one seed of ours could not have given the figure.

    cells: those that have a published figure and two seeds. single: those with one seed.
    """

    response: str
    cells: int
    outside: tuple[Cell, ...]
    single: int

    @property
    def by_chance(self) -> float:
        """How many would lie outside if each published figure were a draw of ours."""
        return (1 - CONFIDENCE) * self.cells


def outside(cells: Iterable[Cell], response: str, known_to: float = 0.0) -> Outside | None:
    """None where no cell has both a measured and a published figure.

    known_to: half of the last digit that the source prints.
    """
    known = [
        (cell, one_draw(cell.values(response)))
        for cell in cells
        if response in cell.published and cell.values(response)
    ]
    if not known:
        return None
    several = [(cell, draw) for cell, draw in known if draw is not None]
    return Outside(
        response=response,
        cells=len(several),
        outside=tuple(
            cell
            for cell, draw in several
            if draw.p_of(cell.published[response], known_to) < 1 - CONFIDENCE
        ),
        single=len(known) - len(several),
    )


def outside_kept(
    rows: Iterable[Mapping[str, str]], response: str, known_to: float = 0.0
) -> tuple[int, int]:
    """Of the lines of a kept cells.csv: how many cells have both, and how many lie outside.

    The half-width h of the mean's interval over n seeds is t * s / sqrt(n), so that of one draw is
    h * sqrt(n + 1).
    """
    known = [row for row in rows if row[f"{response}_published"] and row[f"{response}_half_width"]]
    beyond = [
        row
        for row in known
        if abs(float(row[f"{response}_difference"])) - known_to
        > float(row[f"{response}_half_width"]) * math.sqrt(int(row["seeds"]) + 1)
    ]
    return len(known), len(beyond)
