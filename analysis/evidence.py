# SPDX-License-Identifier: GPL-2.0-only
"""What the checks of conclusions draw on: ANOVAs and differences of means of a set of cells.

Two methods judge one campaign. *Cell means* is the paper's own: one value a cell, the error
from the interactions left out, whatever the number of seeds. *Replications* takes the error
from the seeds, needs two or more, and can tell smaller effects apart.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from scipy import stats

from analysis.anova import Anova, analyse
from analysis.comparison import CONFIDENCE, CellComparison
from analysis.errors import TableError
from analysis.table import Table

FACTORS = ("flavor", "buffer", "policy")
"""Factors of the ANOVA within one network, in the order of the paper's tables."""

Levels = Mapping[str, Sequence[str]]
"""Factor -> levels that are meant; a factor left out means all its levels."""


class Method(Enum):
    """Where the error comes from; the value is what a report calls it."""

    CELL_MEANS = "cell means, as in the paper"
    REPLICATIONS = "replications"


class NoEvidenceError(Exception):
    """What a check needs was not measured; becomes the verdict 'undecided'."""


@dataclass(frozen=True, kw_only=True)
class Contrast:
    """A difference of two means; `half_width` of its interval over seeds, None without seeds."""

    difference: float
    half_width: float | None

    def __str__(self) -> str:
        if self.half_width is None:
            return f"{self.difference:+.4f}"
        return f"{self.difference:+.4f} ± {self.half_width:.4f}"


class Evidence:
    """The measured (or published) cells of all networks and responses, and one method."""

    def __init__(self, cells: Sequence[CellComparison], method: Method) -> None:
        self.method = method
        self._cells: dict[tuple[str, str], list[CellComparison]] = {}
        for cell in cells:
            self._cells.setdefault((cell.network, cell.response), []).append(cell)
        self._anovas: dict[tuple[str, str], Anova] = {}

    @property
    def networks(self) -> tuple[str, ...]:
        """Networks with at least one cell, in the order of the cells."""
        return tuple(dict.fromkeys(network for network, _ in self._cells))

    def anova(self, network: str, response: str) -> Anova:
        """ANOVA of one network; raises NoEvidenceError where the design is not whole."""
        key = (network, response)
        if key not in self._anovas:
            try:
                self._anovas[key] = analyse(self._table(network, response), response, FACTORS)
            except TableError as error:
                raise NoEvidenceError(str(error)) from None
        return self._anovas[key]

    def contrast(self, network: str, response: str, of: Levels, minus: Levels) -> Contrast:
        """Mean over the cells that match `of`, less the mean over those that match `minus`.

        Raises NoEvidenceError unless every combination of the named levels was measured.
        """
        first = self._matching(network, response, of)
        second = self._matching(network, response, minus)
        return Contrast(
            difference=_mean(first) - _mean(second),
            half_width=None if self.method is Method.CELL_MEANS else _half_width(first, second),
        )

    def _matching(self, network: str, response: str, levels: Levels) -> list[CellComparison]:
        cells = self._cells.get((network, response), [])
        found = [
            cell
            for cell in cells
            if all(getattr(cell, factor) in named for factor, named in levels.items())
        ]
        combinations = {tuple(getattr(cell, factor) for factor in levels) for cell in found}
        missing = set(itertools.product(*levels.values())) - combinations
        if missing or not found:
            text = " ".join(min(missing)) if missing else "no cell"
            raise NoEvidenceError(f"not measured: {network} {text}")
        return found

    def _table(self, network: str, response: str) -> Table:
        cells = self._cells.get((network, response), [])
        if not cells:
            raise NoEvidenceError(f"not measured: {network}")
        seeds = min(len(cell.values) for cell in cells)
        rows = [
            {factor: getattr(cell, factor) for factor in FACTORS} | {response: repr(value)}
            for cell in cells
            for value in self._values(cell, seeds)
        ]
        return Table(source=network, columns=(*FACTORS, response), rows=tuple(rows))

    def _values(self, cell: CellComparison, seeds: int) -> tuple[float, ...]:
        """As many values of each cell, so that a failed trial leaves the design balanced."""
        if self.method is Method.CELL_MEANS:
            return (cell.estimate.mean,)
        return cell.values[:seeds]


def _mean(cells: Sequence[CellComparison]) -> float:
    return math.fsum(cell.estimate.mean for cell in cells) / len(cells)


def _half_width(first: Sequence[CellComparison], second: Sequence[CellComparison]) -> float | None:
    """Half-width of the t interval of the difference, variance pooled over the cells."""
    cells = [*first, *second]
    freedom = sum(len(cell.values) - 1 for cell in cells)
    if freedom == 0:
        return None
    squares = math.fsum(
        (value - cell.estimate.mean) ** 2 for cell in cells for value in cell.values
    )
    weights = sum(
        math.fsum(1 / len(cell.values) for cell in group) / len(group) ** 2
        for group in (first, second)
    )
    quantile = float(stats.t.ppf((1 + CONFIDENCE) / 2, freedom))
    return quantile * math.sqrt(squares / freedom * weights)
