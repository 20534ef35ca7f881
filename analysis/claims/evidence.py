# SPDX-License-Identifier: GPL-2.0-only
"""What the checks of claims draw on: cells, ANOVAs of them, differences of their means.

Where a study has an analysis of variance, two methods judge one campaign. *Cell means* is
98-0876R1's own: one value a cell, the error from the interactions left out, whatever the number
of seeds. *Replications* takes the error from the seeds, needs two or more, and can tell smaller
effects apart. Where it has none, all is judged by intervals over cells and seeds.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from analysis.anova import Anova, analyse
from analysis.cells import Cell, Levels
from analysis.errors import TableError
from analysis.records import level_text
from analysis.statistics import Contrast, contrast, mean
from analysis.study import Study
from analysis.table import Table


class Method(Enum):
    """Where the error comes from; the value is what a report calls it."""

    CELL_MEANS = "cell means"
    REPLICATIONS = "replications"
    SEEDS = "95 % intervals over cells and seeds"


class Verdict(Enum):
    """What became of a claim; the value is what a report says."""

    HOLDS = "holds"
    FAILS = "does not hold"
    UNDECIDED = "undecided"


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A verdict and the figures it rests on, one sentence."""

    verdict: Verdict
    evidence: str


class NoEvidenceError(Exception):
    """What a check needs was not measured; becomes the verdict 'undecided'."""


class Evidence:
    """The cells of one variant, measured or published, and one method."""

    def __init__(self, cells: Sequence[Cell], study: Study, method: Method) -> None:
        self.cells = tuple(cells)
        self.study = study
        self.method = method
        self._anovas: dict[tuple[str, str], Anova] = {}

    def of(
        self, where: Levels, with_any: str | None = None, without: str | None = None
    ) -> list[Cell]:
        """The cells that match.

        with_any: a metric that is above 0 in a trial of the cell; without: one that is in none.
        """
        return [
            cell
            for cell in self.cells
            if cell.matches(where)
            and (with_any is None or any(cell.values(with_any)))
            and (without is None or not any(cell.values(without)))
        ]

    def anova(self, where: Levels, response: str) -> Anova:
        """ANOVA of the cells that match; raises NoEvidenceError where the design is not whole."""
        name = words(where)
        if (name, response) not in self._anovas:
            try:
                table = self._table(name, self.of(where), response)
                self._anovas[name, response] = analyse(table, response, self.study.anova)
            except TableError as error:
                raise NoEvidenceError(str(error)) from None
        return self._anovas[name, response]

    def contrast(self, where: Levels, response: str, of: Levels, minus: Levels) -> Contrast:
        """Mean over the cells that match `of`, less the mean over those that match `minus`.

        Raises NoEvidenceError unless every combination of the named levels was measured.
        """
        groups = [self._whole(where, response, levels) for levels in (of, minus)]
        if self.method is Method.CELL_MEANS:  # a cell is one value
            groups = [[(mean(cell),) for cell in group] for group in groups]
        return contrast(*groups)

    def _whole(self, where: Levels, response: str, levels: Levels) -> list[tuple[float, ...]]:
        found = [cell for cell in self.of({**where, **levels}) if cell.values(response)]
        measured = {tuple(cell.levels[factor] for factor in levels) for cell in found}
        missing = set(itertools.product(*(map(level_text, named) for named in levels.values())))
        missing -= measured
        if missing or not found:
            text = " ".join(min(missing)) if missing else "no cell"
            raise NoEvidenceError(f"not measured: {words(where)} {text}")
        return [cell.values(response) for cell in found]

    def _table(self, name: str, cells: Sequence[Cell], response: str) -> Table:
        """Seeds as rows: as many of each cell, so that a failed trial leaves it balanced."""
        measured = [cell for cell in cells if cell.values(response)]
        if not measured:
            raise NoEvidenceError(f"not measured: {name}")
        fewest = min(len(cell.values(response)) for cell in measured)
        factors = self.study.anova
        rows = [
            {factor: cell.levels[factor] for factor in factors} | {response: repr(value)}
            for cell in measured
            for value in self._values(cell.values(response), fewest)
        ]
        return Table(source=name, columns=(*factors, response), rows=tuple(rows))

    def _values(self, values: tuple[float, ...], seeds: int) -> tuple[float, ...]:
        if self.method is Method.CELL_MEANS:
            return (mean(values),)
        return values[:seeds]


def words(levels: Levels) -> str:
    """Levels in one line, several of one factor with strokes between."""
    return " ".join("/".join(map(level_text, named)) for named in levels.values())


def combinations(levels: Levels) -> Iterator[Mapping[str, tuple[str]]]:
    """Each combination of one level a factor."""
    for one in itertools.product(*(map(level_text, named) for named in levels.values())):
        yield {factor: (level,) for factor, level in zip(levels, one, strict=True)}
