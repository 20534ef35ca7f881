# SPDX-License-Identifier: GPL-2.0-only
"""The plots of a campaign: measured over published, heat maps, effects, interactions, variants."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Normalize, TwoSlopeNorm
from matplotlib.figure import Figure
from numpy.typing import NDArray

from analysis.anova import Anova
from analysis.cells import group_of
from analysis.report.headings import along as along_axis
from analysis.report.headings import named
from analysis.report.model import MISSING, Plot, Sheet, signed
from analysis.report.results import Results
from analysis.report.svg import bars, colour, ink, marker, style, to_svg
from analysis.statistics import distribution
from analysis.study import Response

Values = NDArray[np.float64]
MOST_STEPS = 400
"""Points of a distribution function: more than the plot has pixels adds nothing but size."""


def scatter(results: Results, response: str) -> Plot | None:
    """Measured over published, a point a cell; None where no cell has both."""
    compared = [cell for cell in results.cells if cell.difference(response) is not None]
    if not compared:
        return None
    name = f"scatter-{response}"
    title = f"{response.capitalize()}: measured over published"
    with style(name):
        figure = Figure(figsize=(4.4, 3.8))
        axes = figure.subplots()
        lowest = 1.0
        groups = dict.fromkeys(group_of(cell, results.study) for cell in compared)
        for place, group in enumerate(groups):
            cells = [cell for cell in compared if group_of(cell, results.study) == group]
            found = [one for cell in cells if (one := cell.estimate(response))]
            x = [cell.published[response] for cell in cells]
            y = [one.mean for one in found]
            lowest = min(lowest, *x, *y)
            axes.errorbar(
                x, y, bars(found), fmt=marker(place), ms=4, lw=0.8, alpha=0.85, color=colour(place),
                label=group or None,
            )  # fmt: skip
        axes.plot([lowest, 1], [lowest, 1], color=ink(), lw=0.8, ls="--")
        axes.set(title=title, xlabel="published", ylabel="measured")
        low, high = axes.get_ylim()
        axes.set_ylim(max(low, 0), min(high, 1.05))
        if any(groups):
            axes.legend()
        svg = to_svg(figure)
    return Plot(
        name=name,
        title=title,
        alt=_scatter_alt(results, response),
        svg=svg,
    )


def _scatter_alt(results: Results, response: str) -> str:
    texts = [
        f"{one.group or 'all'} lies {one.mean_difference:+.3f} from the published values on average"
        for one in results.distances
        if one.response == response
    ]
    return (
        f"Scatter plot of {response}: each point is a combination of levels, and the line shows "
        "equality. " + "; ".join(texts)
    )


def heat_maps(
    results: Results, group: str, response: str, rows: Sequence[str], columns: str
) -> list[Plot]:
    """Measured, published and difference of the cells of one level of `by`.

    rows: the factors whose levels together name a row; columns: that of the columns.
    """
    grid = _Grid(results, group, rows, columns)
    measured = grid.matrix([cell.mean(response) for cell in grid.cells])
    if np.isnan(measured).all():
        return []
    drawn = [("measured", measured)]
    if any(response in cell.published for cell in grid.cells):
        published = grid.matrix([cell.published.get(response) for cell in grid.cells])
        drawn += [("published", published), ("difference", measured - published)]
    together = np.concatenate([values.ravel() for _, values in drawn[:2]])
    limits = Normalize(float(np.nanmin(together)), float(np.nanmax(together)))
    return [_heat_map(grid, response, kind, values, limits) for kind, values in drawn]


class _Grid:
    """Cells of one level of `by` as rows and columns."""

    def __init__(self, results: Results, group: str, rows: Sequence[str], columns: str) -> None:
        self.study, self.group, self.factors, self.along = results.study, group, rows, columns
        self.cells = results.of(group)
        levels = [results.campaign.levels(factor) for factor in rows]
        self.rows = list(itertools.product(*levels))
        self.columns = results.campaign.levels(columns)

    def matrix(self, values: Sequence[float | None]) -> Values:
        """The cells' values as an array; nan where a cell is missing or has none."""
        matrix = np.full((len(self.rows), len(self.columns)), np.nan)
        for cell, value in zip(self.cells, values, strict=True):
            if value is not None:
                row = tuple(cell.levels[factor] for factor in self.factors)
                column = self.columns.index(cell.levels[self.along])
                matrix[self.rows.index(row), column] = value
        return matrix


def _heat_map(grid: _Grid, response: str, kind: str, values: Values, limits: Normalize) -> Plot:
    with_sign = kind == "difference"
    if with_sign:
        most = max(0.01, float(np.nanmax(np.abs(values))))
        limits = TwoSlopeNorm(0, -most, most)
    name = f"{named('heat', grid.group)}-{response}-{kind}"
    title = f"{grid.group} {response}, {kind}".strip()
    with style(name):
        figure = Figure(figsize=(3.3, 0.55 + 0.3 * len(grid.rows)))
        axes = figure.subplots()
        mesh = axes.pcolormesh(values, cmap="RdBu_r" if with_sign else "viridis", norm=limits)
        _annotate(axes, values, mesh.cmap(limits(np.nan_to_num(values))), with_sign)
        axes.grid(visible=False)
        axes.invert_yaxis()
        axes.set_xticks(np.arange(len(grid.columns)) + 0.5, grid.columns)
        axes.set_yticks(np.arange(len(grid.rows)) + 0.5, [" ".join(row) for row in grid.rows])
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
        axes.set(title=title, xlabel=along_axis(grid.study, grid.along))
        svg = to_svg(figure)
    return Plot(name=name, title=title, alt=_heat_alt(grid, title, values), svg=svg)


def _annotate(axes: Axes, values: Values, colours: Values, with_sign: bool) -> None:
    """Each cell's number, black or white, whichever stands out more from its colour."""
    luminance = colours[..., :3] @ np.array([0.299, 0.587, 0.114])
    for (row, column), value in np.ndenumerate(values):
        if not np.isnan(value):
            text = format(value, "+.3f" if with_sign else ".3f")
            dark = luminance[row, column] > 0.55
            axes.text(
                column + 0.5, row + 0.5, signed(text), ha="center", va="center", fontsize=8,
                color="#000001" if dark else "#ffffff",
            )  # fmt: skip


def _heat_alt(grid: _Grid, title: str, values: Values) -> str:
    ends = []
    for find in (np.nanargmin, np.nanargmax):
        row, column = divmod(int(find(values)), len(grid.columns))
        names = f"{' '.join(grid.rows[row])}, {grid.study.level(grid.along, grid.columns[column])}"
        ends.append(f"{values[row, column]:.3f} ({names})")
    return (
        f"Heat map of {title}: {' and '.join(grid.factors)} against {grid.along}. The values lie "
        f"between {ends[0]} and {ends[1]}. The table above has every value."
    )


def effects(results: Results, group: str, response: str) -> Plot | None:
    """Main effects with their intervals, measured beside published; None without an ANOVA."""
    anova = results.anova(group, response)
    if anova is None:
        return None
    published = results.published_anova(group, response)
    name = f"{named('effects', group)}-{response}"
    title = f"{group} {response}: main effects".strip()
    names = [results.study.level(effect.factors[0], effect.levels[0]) for effect in anova.effects]
    with style(name):
        figure = Figure(figsize=(4.6, 3.2))
        axes = figure.subplots()
        _intervals(axes, anova, 0, -0.14, "measured")
        if published is not None:
            _intervals(axes, published, 1, 0.14, "published")
        axes.axvline(0, color=ink(), lw=0.8)
        axes.set_yticks(range(len(names)), names)
        axes.invert_yaxis()
        axes.set(title=title, xlabel="main effect, 90 % interval")
        axes.legend(loc="best")
        svg = to_svg(figure)
    telling = [
        f"{effect.levels[0]} {effect.effect:+.3f}" for effect in anova.effects if effect.significant
    ]
    return Plot(
        name=name,
        title=title,
        alt=f"Main effects on {group} {response} with 90 % confidence intervals, measured and "
        "published. The intervals of these measured effects exclude 0: "
        f"{', '.join(telling) or 'none'}.",
        svg=svg,
    )


def _intervals(axes: Axes, anova: Anova, series: int, offset: float, label: str) -> None:
    places = [place + offset for place in range(len(anova.effects))]
    centres = [effect.effect for effect in anova.effects]
    widths = [effect.high - effect.effect for effect in anova.effects]
    axes.errorbar(
        centres, places, xerr=widths, fmt=marker(series), ms=4, capsize=2.5, lw=1.2,
        color=colour(series), label=label,
    )  # fmt: skip


def interactions(results: Results, group: str, response: str) -> list[Plot]:
    """Means over two factors of the ANOVA at a time, measured (solid) and published (dashed)."""
    # A factor whose levels are numbers goes along the axis.
    words = sorted(results.study.anova, key=lambda factor: factor in results.study.units)
    pairs = itertools.combinations(words, 2)
    return [_interaction(results, group, response, lines, along) for lines, along in pairs]


def _interaction(results: Results, group: str, response: str, lines: str, along: str) -> Plot:
    cells = results.of(group)
    columns = results.campaign.levels(along)
    name = f"{named('interaction', group)}-{response}-{lines}-{along}"
    title = f"{group} {response}: {lines} by {along}".strip()
    with style(name):
        figure = Figure(figsize=(4.0, 2.9))
        axes = figure.subplots()
        for place, level in enumerate(results.campaign.levels(lines)):
            chosen = [
                [c for c in cells if (c.levels[lines], c.levels[along]) == (level, x)]
                for x in columns
            ]
            means = [_mean(cell.mean(response) for cell in some) for some in chosen]
            theirs = [_mean(cell.published.get(response) for cell in some) for some in chosen]
            look: dict[str, Any] = {"color": colour(place), "marker": marker(place), "ms": 4}
            axes.plot(columns, means, label=level, lw=1.6, **look)
            axes.plot(columns, theirs, lw=1, ls="--", alpha=0.6, **look, mfc="none")
        axes.set(title=title, xlabel=along_axis(results.study, along), ylabel=response)
        axes.legend(loc="best", ncols=2)
        svg = to_svg(figure)
    alt = _interaction_alt(results, group, response, lines, along)
    return Plot(name=name, title=title, alt=alt, svg=svg)


def _mean(values: Iterable[float | None]) -> float:
    """Over the values that are known; nan without any."""
    found = [value for value in values if value is not None]
    return float(np.mean(found)) if found else float("nan")


def _figure(value: float) -> str:
    return MISSING if np.isnan(value) else f"{value:.3f}"


def _interaction_alt(results: Results, group: str, response: str, lines: str, along: str) -> str:
    """The two ends of each measured line."""
    ends = [results.campaign.levels(along)[place] for place in (0, -1)]
    texts = []
    for level in results.campaign.levels(lines):
        values = [
            _mean(
                cell.mean(response)
                for cell in results.of(group)
                if (cell.levels[lines], cell.levels[along]) == (level, end)
            )
            for end in ends
        ]
        texts.append(f"{level} {_figure(values[0])} to {_figure(values[1])}")
    return (
        f"Interaction of {lines} and {along} in {group} {response}: measured lines are solid, "
        f"published lines are dashed. Measured from {along} {ends[0]} to {ends[1]}: "
        f"{', '.join(texts)}."
    )


def variant_effects(results: Results, sheet: Sheet, response: str) -> Plot | None:
    """Effect of each variant against the first on the mean of each network; None without any."""
    places = {column.name: place for place, column in enumerate(sheet.columns)}
    found: dict[str, dict[str, float]] = {}
    for row in sheet.rows:
        value = row[places[f"{response}_effect"]]
        if isinstance(value, float):
            group = row[places[results.study.by]] if results.study.by else "all"
            found.setdefault(str(group), {})[str(row[0])] = value
    names = list(results.variants)[1:]
    if not names or not found:
        return None
    name = f"variants-{response}"
    title = f"{response.capitalize()}: effect of each variant"
    with style(name):
        figure = Figure(figsize=(4.6, 1.2 + 0.3 * len(names)))
        axes = figure.subplots()
        for place, (group, values) in enumerate(found.items()):
            shown = [variant for variant in names if variant in values]
            axes.plot(
                [values[variant] for variant in shown], [names.index(v) for v in shown],
                ls="", marker=marker(place), color=colour(place), label=group,
            )  # fmt: skip
        axes.axvline(0, color=ink(), lw=0.8)
        axes.set_yticks(range(len(names)), names)
        axes.set_ylim(len(names) - 0.5, -0.5)
        axes.set(title=title, xlabel="difference from the first variant")
        axes.legend()
        svg = to_svg(figure)
    return Plot(
        name=name,
        title=title,
        alt=_variants_alt(results, found, response),
        svg=svg,
    )


def _variants_alt(results: Results, found: dict[str, dict[str, float]], response: str) -> str:
    texts = []
    for group, values in found.items():
        strongest = max(values, key=lambda variant: abs(values[variant]))
        texts.append(f"in {group} {strongest}, {values[strongest]:+.3f}")
    first = next(iter(results.variants))
    return (
        f"Effect of each variant on mean {response}, compared with {first}. Strongest: "
        + "; ".join(texts)
    )


def distributions(
    results: Results, response: Response, group: str, values: Mapping[str, Sequence[float]]
) -> Plot:
    """Distribution functions, a line a cell (name -> all its values).

    One that ends below 1 has values that were not reached.
    """
    name = named(f"distribution-{response.name}", group)
    title = f"{group} {response.title}".strip()
    with style(name):
        figure = Figure(figsize=(4.8, 3.4))
        axes = figure.subplots()
        for place, (cell, all_values) in enumerate(values.items()):
            x, share = distribution(all_values)
            step = max(1, len(x) // MOST_STEPS)
            line = "-" if place < 5 else "--"
            axes.step(x[::step], share[::step], line, where="post", color=colour(place), label=cell)
        axes.set(
            title=title, xlabel=response.title.lower(), ylabel="share of the values", ylim=(0, 1)
        )
        least = [np.min(known) for known in values.values() if len(known)]
        if least and min(least) > 0:  # a kept trial has no values of its own
            axes.set_xscale("log")
        axes.legend(fontsize=7)
        svg = to_svg(figure)
    medians = ", ".join(
        f"{cell} {np.quantile(known, 0.5, method='inverted_cdf'):.4g}"
        for cell, known in values.items()
        if len(known)
    )
    alt = (
        f"Distribution functions of {title}; each line is a combination of levels. Medians:"
        f" {medians}."
    )
    return Plot(name=name, title=title, alt=alt, svg=svg)
