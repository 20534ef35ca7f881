# SPDX-License-Identifier: GPL-2.0-only
"""What the checks of claims draw on: cells, ANOVAs of them, figures of each seed.

Where a study has an analysis of variance, two methods make its intervals. *Cell means* is
98-0876R1's own: one value a cell, the error from the interactions left out, whatever the number
of seeds. *Replications* takes the error from the seeds, needs two or more, and can tell smaller
effects apart. Differences of cells are paired by seed whatever the method.
"""

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from enum import Enum

from analysis.anova import Anova, analyse
from analysis.cells import Cell, Levels
from analysis.claims.findings import Figure, Finding, NoEvidenceError, Side
from analysis.contrasts import Form, contrast, of_draws
from analysis.errors import TableError
from analysis.records import level_text
from analysis.statistics import mean
from analysis.study import Study
from analysis.table import Table

SEED = "seed"
Weighted = Sequence[tuple[float, Cell]]
"""Cells with their weights in a sum."""


class Method(Enum):
    """Where the error comes from; the value is what a report calls it."""

    CELL_MEANS = "cell means"
    REPLICATIONS = "replications"
    SEEDS = "95 % intervals over the seeds"


class Evidence:
    """The cells of one variant, measured or published, and one method."""

    def __init__(self, cells: Sequence[Cell], study: Study, method: Method) -> None:
        self.cells = tuple(cells)
        self.study = study
        self.method = method
        self.asked: set[str] = set()
        self._anovas: dict[tuple[str, str], Anova] = {}
        self._draws: dict[int, Evidence] = {}

    def of(
        self, where: Levels, with_any: str | None = None, without: str | None = None
    ) -> list[Cell]:
        """The cells that match; they are noted in `asked`.

        with_any: a metric that is above 0 in a trial of the cell; without: one that is in none.
        """
        found = [
            cell
            for cell in self.cells
            if cell.matches(where)
            and (with_any is None or any(cell.values(with_any)))
            and (without is None or not any(cell.values(without)))
        ]
        self.asked |= {cell.name for cell in found}
        return found

    def one_seed(self, found: Finding) -> bool:
        """Whether a finding rests on a cell that was run with one seed; never of the source's own.

        Its figures tell, where it has any; else the cells that were asked for.
        """
        if not any(cell.trials for cell in self.cells):
            return False
        if found.figures:
            return any(figure.measured.form is Form.NONE for figure in found.figures)
        return any(len(cell.trials) == 1 for cell in self.cells if cell.name in self.asked)

    def anova(self, where: Levels, response: str) -> Anova:
        """ANOVA of the cells that match; raises NoEvidenceError where the design is not whole."""
        name, cells = words(where), self.of(where)
        if (name, response) not in self._anovas:
            try:
                table = self._table(name, cells, response)
                block = SEED if SEED in table.columns else None
                found = analyse(table, response, self.study.anova, block=block)
                self._anovas[name, response] = found
            except TableError as error:
                raise NoEvidenceError(str(error)) from None
        return self._anovas[name, response]

    def difference(
        self,
        name: str,
        where: Levels,
        response: str,
        of: Levels,
        minus: Levels,
        side: Side = Side.NEITHER,
        *,
        relative: bool = False,
    ) -> Figure:
        """Mean over the cells that match `of`, less the mean over those that match `minus`.

        Raises NoEvidenceError unless every combination of the named levels was measured.
        """
        first, second = (self._whole(where, response, levels) for levels in (of, minus))
        terms = [*equal(first), *equal(second, -1)]
        return self.figure(name, response, terms, side, relative=relative)

    def figure(
        self,
        name: str,
        response: str,
        terms: Weighted,
        side: Side = Side.NEITHER,
        *,
        relative: bool = False,
        of_value: Callable[[float], float] = float,
    ) -> Figure:
        """A weighted sum of the cells' means, and the same of the source's cells.

        relative: of the logarithms, so that a difference is one of ratios.
        of_value: what is summed of each value.
        Raises NoEvidenceError for a cell without a value, for a ratio to 0, and where a trial has
        no value (as a quantile that was not reached) in a seed in which another cell's has: what
        is left would be survivors.
        """
        _need_no_survivors(terms, response)
        changed = _logarithm if relative else of_value
        try:
            found = contrast([(weight, _of(cell, response, changed)) for weight, cell in terms])
        except ValueError:
            raise NoEvidenceError(f"not measured: {response} for {name or 'the cells'}") from None
        return Figure(
            name=name,
            measured=found,
            side=side,
            relative=relative,
            published=_published(terms, response, changed),
            known_to=0.0 if relative else self._known_to(response, terms),
        )

    def statistic(
        self, name: str, of: Callable[["Evidence"], float], side: Side = Side.NEITHER
    ) -> Figure:
        """A figure that is no sum of means: computed of each seed, and of the source's cells.

        Raises NoEvidenceError where no seed has all that it needs.
        """
        seeds = sorted({s for cell in self.cells for by in cell.metrics.values() for s in by})
        found = [known for seed in seeds if (known := _known(of, self.draw(seed))) is not None]
        if not found:
            raise NoEvidenceError(f"not measured: {name}")
        published = _known(of, self.draw(None))
        return Figure(
            name=name, measured=of_draws(found, len(seeds)), side=side, published=published
        )

    def draw(self, seed: int | None) -> "Evidence":
        """What one seed says, as if there were no other; what the source says for None."""
        key = -1 if seed is None else seed
        if key not in self._draws:
            cells = [replace(cell, metrics=_one(cell, seed), trials=()) for cell in self.cells]
            self._draws[key] = Evidence(cells, self.study, Method.CELL_MEANS)
        return self._draws[key]

    def _known_to(self, response: str, terms: Weighted) -> float:
        """By how much the source's rounding can change a weighted sum of its figures."""
        to = {one.name: one.known_to for one in self.study.means}.get(response, 0.0)
        return to * math.fsum(abs(weight) for weight, _ in terms)

    def _whole(self, where: Levels, response: str, levels: Levels) -> list[Cell]:
        found = [cell for cell in self.of({**where, **levels}) if cell.values(response)]
        measured = {tuple(cell.levels[factor] for factor in levels) for cell in found}
        missing = set(itertools.product(*(map(level_text, named) for named in levels.values())))
        missing -= measured
        if missing or not found:
            text = " ".join(min(missing)) if missing else "no cell"
            raise NoEvidenceError(f"not measured: {words(where)} {text}")
        return found

    def _table(self, name: str, cells: Sequence[Cell], response: str) -> Table:
        """A row a cell, or one for each of its seeds.

        The seeds that all cells have are blocks. Where fewer than two are, the rows are as many of
        each cell as the poorest has, so that a failed trial leaves the table balanced.
        """
        measured = [cell for cell in cells if cell.values(response)]
        if not measured:
            raise NoEvidenceError(f"not measured: {name}")
        factors = tuple(self.study.anova)
        seeds = sorted(set.intersection(*(set(cell.metrics[response]) for cell in measured)))
        paired = self.method is not Method.CELL_MEANS and len(seeds) > 1
        fewest = min(len(cell.values(response)) for cell in measured)
        rows = [
            {factor: cell.levels[factor] for factor in factors} | row
            for cell in measured
            for row in (
                [{SEED: str(s), response: repr(cell.metrics[response][s])} for s in seeds]
                if paired
                else [{response: repr(value)} for value in self._values(cell, response, fewest)]
            )
        ]
        columns = (*factors, *([SEED] if paired else []), response)
        return Table(source=name, columns=columns, rows=tuple(rows))

    def _values(self, cell: Cell, response: str, seeds: int) -> tuple[float, ...]:
        values = cell.values(response)
        return (mean(values),) if self.method is Method.CELL_MEANS else values[:seeds]


def words(levels: Levels) -> str:
    """Levels in one line, several of one factor with strokes between."""
    return " ".join("/".join(map(level_text, named)) for named in levels.values())


def combinations(levels: Levels) -> Iterator[Mapping[str, tuple[str]]]:
    """Each combination of one level a factor."""
    for one in itertools.product(*(map(level_text, named) for named in levels.values())):
        yield {factor: (level,) for factor, level in zip(levels, one, strict=True)}


def equal(cells: Sequence[Cell], sign: int = 1) -> list[tuple[float, Cell]]:
    """The cells with the weights of their mean; sign: -1 of one that is subtracted."""
    return [(sign / len(cells), cell) for cell in cells]


def _of(cell: Cell, response: str, changed: Callable[[float], float]) -> dict[int, float]:
    return {seed: changed(value) for seed, value in cell.metrics.get(response, {}).items()}


def _need_no_survivors(terms: Weighted, response: str) -> None:
    known = set().union(*(cell.metrics.get(response, {}) for _, cell in terms))
    for _, cell in terms:
        without = {trial.seed for trial in cell.trials} - set(cell.metrics.get(response, {}))
        if without & known:
            seeds = ", ".join(map(str, sorted(without & known)))
            raise NoEvidenceError(
                f"not decided: {cell.name} has no {response} in seed {seeds}, another cell has"
            )


def _published(terms: Weighted, response: str, changed: Callable[[float], float]) -> float | None:
    if not all(response in cell.published for _, cell in terms):
        return None
    return math.fsum(weight * changed(cell.published[response]) for weight, cell in terms)


def _logarithm(value: float) -> float:
    if value <= 0:
        raise NoEvidenceError(f"not measured: a ratio to {value:g}")
    return math.log(value)


def _one(cell: Cell, seed: int | None) -> dict[str, dict[int, float]]:
    """The metrics of a seed alone, or, for None, the published values in their place."""
    if seed is None:
        return {name: {0: value} for name, value in cell.published.items()}
    return {name: {seed: by[seed]} for name, by in cell.metrics.items() if seed in by}


def _known(of: Callable[[Evidence], float], evidence: Evidence) -> float | None:
    try:
        return of(evidence)
    except NoEvidenceError:
        return None
