# SPDX-License-Identifier: GPL-2.0-only
"""A figure of each response over the factors of a campaign, whatever these are.

Numbers stand on an axis of numbers, words side by side. The axis of a response begins at 0, so that
a small difference looks small. Where all values lie within the upper fifth of this axis, the axis
has this fifth alone, and its label says so: a difference is then drawn at most five times as large.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.cells import Cell
from analysis.report import named
from analysis.report.headings import along as along_axis
from analysis.report.model import Plot
from analysis.report.results import Results
from analysis.report.svg import bars, colour, marker, style, to_svg
from analysis.study import Response

MOST_LINES = 8
MOST_PANELS = 6
UPPER = 0.8
"""Where all values are above this share of the largest, an axis begins there and not at 0."""
WIDE = 20
"""Numbers of which the largest is so many times the smallest stand on a logarithmic axis."""


def overview(results: Results) -> list[Plot]:
    """A plot for each response and set of panels; none where no factor varies."""
    factors = [name for name in results.factors if len(results.levels_of(name)) > 1]
    if not factors:
        return []
    along = max(factors, key=lambda name: (_are_numbers(results, name), factors.index(name)))
    rest = [name for name in factors if name != along]
    lines = next((n for n in reversed(rest) if len(results.levels_of(n)) <= MOST_LINES), None)
    panels = [name for name in rest if name != lines]
    combinations = list(itertools.product(*(results.levels_of(name) for name in panels)))
    if len(combinations) > MOST_PANELS:
        return []
    return [
        _plot(results, response, along, lines, dict(zip(panels, levels, strict=True)))
        for response in results.study.means
        if any(cell.values(response.name) for cell in results.every_cell)
        for levels in combinations
    ]


def _plot(
    results: Results, response: Response, along: str, lines: str | None, panel: dict[str, str]
) -> Plot:
    where = ", ".join(named.level(*one, results.factors) for one in panel.items())
    title = f"{response.title}{f' ({where})' if where else ''}"
    name = "-".join(("overview", response.name, *panel.values())).replace("/", "-")
    told = []
    with style(name):
        figure = Figure(figsize=(4.6, 3.2))
        axes = figure.subplots()
        for place, level in enumerate(results.levels_of(lines) if lines else [""]):
            wanted = {**panel, **({lines: level} if lines else {})}
            cells = [c for c in results.every_cell if wanted.items() <= c.levels.items()]
            told += _line(axes, results, response, along, cells, place, level)
        _finish(axes, results, along, title, response, legend=lines)
        svg = to_svg(figure)
    against = along_axis(results.study, along, results.factors)
    alt = f"{title} against {against}. {'; '.join(told)}."
    return Plot(name=name, title=title, alt=alt, svg=svg)


def _line(
    axes: Axes, results: Results, response: Response, along: str, cells: Sequence[Cell],
    place: int, level: str,
) -> list[str]:  # fmt: skip
    """Draw the cells of one line; say its figures in words."""
    known = [(c.levels[along], found) for c in cells if (found := c.estimate(response.name))]
    if not known:
        return []
    levels = results.levels_of(along)
    numbers = _are_numbers(results, along)
    known.sort(key=lambda one: float(one[0]) if numbers else levels.index(one[0]))
    x: list[float] = [float(at) if numbers else levels.index(at) for at, _ in known]
    look: dict[str, Any] = {"fmt": f"{marker(place)}{'-' if numbers else ''}"}
    if not numbers:  # words of several lines side by side
        x = [at + 0.06 * place for at in x]
    axes.errorbar(
        x, [one.mean for _, one in known], bars([one for _, one in known]),
        color=colour(place), ms=5, lw=1.3, capsize=3, label=level or None, **look,
    )  # fmt: skip
    figures = ", ".join(f"{at}: {format(one.mean, response.form)}" for at, one in known)
    return [f"{level} {figures}".strip()]


def _finish(
    axes: Axes, results: Results, along: str, title: str, response: Response, *, legend: str | None
) -> None:
    levels = results.levels_of(along)
    if not _are_numbers(results, along):
        axes.set_xticks(range(len(levels)), levels, rotation=20 if len(levels) > 4 else 0)
    else:
        if _wide([float(level) for level in levels]):
            axes.set_xscale("log")
            axes.minorticks_off()
        axes.set_xticks([float(level) for level in levels], levels)
    begin = axis_begin(results, response)
    if begin is not None:
        axes.set_ylim(begin, axes.get_ylim()[1] * 1.02)
    label = response.title + (f" (axis begins at {begin:.3g})" if begin else "")
    axes.set(title=title, xlabel=along_axis(results.study, along, results.factors), ylabel=label)
    if legend:
        axes.legend(title=along_axis(results.study, legend, results.factors))


def axis_begin(results: Results, response: Response) -> float | None:
    """Where the axis of a response begins; None: as its values, of which some are negative."""
    found = [one for cell in results.every_cell if (one := cell.estimate(response.name))]
    ends = [one.mean + side * (one.half_width or 0.0) for one in found for side in (-1, 1)]
    if not ends or min(value for c in results.every_cell for value in c.values(response.name)) < 0:
        return None
    begin = UPPER * max(ends)
    return begin if begin and min(ends) > begin else 0.0


def _are_numbers(results: Results, factor: str) -> bool:
    try:
        return len([float(level) for level in results.levels_of(factor)]) > 1
    except ValueError:
        return False


def _wide(levels: Sequence[float]) -> bool:
    return min(levels) > 0 and max(levels) / min(levels) >= WIDE
