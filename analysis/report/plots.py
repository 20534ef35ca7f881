# SPDX-License-Identifier: GPL-2.0-only
"""The plots of a campaign: measured over published, heat maps, effects, interactions, variants."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Normalize, TwoSlopeNorm
from matplotlib.figure import Figure
from numpy.typing import NDArray

from analysis.anova import Anova
from analysis.comparison import CellComparison, NetworkSummary
from analysis.report.model import MISSING, Plot, Sheet, signed
from analysis.report.results import Results
from analysis.report.svg import TEXT, colour, marker, style, to_svg

Values = NDArray[np.float64]
SIDE = ("policy", "flavor")


def scatter(
    cells: Sequence[CellComparison], summaries: Sequence[NetworkSummary], response: str
) -> Plot | None:
    """Measured over published, a point a cell; None where no cell has both."""
    compared = [cell for cell in cells if cell.response == response and cell.paper is not None]
    if not compared:
        return None
    name = f"scatter-{response}"
    with style(name):
        figure = Figure(figsize=(4.4, 3.8))
        axes = figure.subplots()
        lowest = 1.0
        for place, network in enumerate(dict.fromkeys(cell.network for cell in compared)):
            group = [cell for cell in compared if cell.network == network]
            x = [cell.paper or 0.0 for cell in group]
            y = [cell.estimate.mean for cell in group]
            lowest = min(lowest, *x, *y)
            bars = [cell.estimate.half_width or 0.0 for cell in group]
            axes.errorbar(
                x, y, bars, fmt=marker(place), ms=4, lw=0.8, alpha=0.85, color=colour(place),
                label=network,
            )  # fmt: skip
        axes.plot([lowest, 1], [lowest, 1], color=TEXT, lw=0.8, ls="--")
        axes.set(title=response.capitalize(), xlabel="published", ylabel="measured")
        low, high = axes.get_ylim()
        axes.set_ylim(max(low, 0), min(high, 1.05))
        axes.legend()
        svg = to_svg(figure)
    return Plot(
        name=name,
        title=f"{response.capitalize()}: measured over published",
        alt=_scatter_alt(summaries, response),
        svg=svg,
    )


def _scatter_alt(summaries: Sequence[NetworkSummary], response: str) -> str:
    texts = [
        f"{entry.network} lies {entry.mean_difference:+.3f} from the published on average"
        for entry in summaries
        if entry.response == response
    ]
    return f"Scatter plot of {response}, a point a cell, with the line of equality: " + "; ".join(
        texts
    )


def heat_maps(results: Results, network: str, response: str) -> list[Plot]:
    """Measured, published and difference of one network's cells, flavors over buffers."""
    cells = results.of(network, response)
    measured = _matrix(results, cells, [cell.estimate.mean for cell in cells])
    plots = [("measured", measured)]
    if any(cell.paper is not None for cell in cells):
        published = _matrix(results, cells, [_or_nan(cell.paper) for cell in cells])
        plots += [("published", published), ("difference", measured - published)]
    together = np.concatenate([values.ravel() for _, values in plots[:2]])
    limits = Normalize(float(np.nanmin(together)), float(np.nanmax(together)))
    return [_heat_map(results, network, response, kind, values, limits) for kind, values in plots]


def _or_nan(value: float | None) -> float:
    return float("nan") if value is None else value


def _matrix(results: Results, cells: Sequence[CellComparison], values: Sequence[float]) -> Values:
    """Rows: policy and flavor; columns: buffer; nan where a cell is missing."""
    levels = results.campaign.levels
    rows = [(p, f) for p in levels("policy") for f in levels("flavor")]
    columns = levels("buffer")
    matrix = np.full((len(rows), len(columns)), np.nan)
    for cell, value in zip(cells, values, strict=True):
        matrix[rows.index((cell.policy, cell.flavor)), columns.index(cell.buffer)] = value
    return matrix


def _heat_map(
    results: Results, network: str, response: str, kind: str, values: Values, limits: Normalize
) -> Plot:
    levels = results.campaign.levels
    rows = [f"{policy} {flavor}" for policy in levels("policy") for flavor in levels("flavor")]
    columns = levels("buffer")
    with_sign = kind == "difference"
    if with_sign:
        most = max(0.01, float(np.nanmax(np.abs(values))))
        limits = TwoSlopeNorm(0, -most, most)
    name = f"heat-{network.lower()}-{response}-{kind}"
    with style(name):
        figure = Figure(figsize=(3.3, 0.55 + 0.3 * len(rows)))
        axes = figure.subplots()
        mesh = axes.pcolormesh(values, cmap="RdBu_r" if with_sign else "viridis", norm=limits)
        _annotate(axes, values, mesh.cmap(limits(np.nan_to_num(values))), with_sign)
        axes.grid(visible=False)
        axes.invert_yaxis()
        axes.set_xticks(np.arange(len(columns)) + 0.5, columns)
        axes.set_yticks(np.arange(len(rows)) + 0.5, rows)
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
        axes.set(title=f"{network} {response}, {kind}", xlabel="buffer (RTT)")
        svg = to_svg(figure)
    return Plot(
        name=name,
        title=f"{network} {response}, {kind}",
        alt=_heat_alt(network, response, kind, values, rows, columns),
        svg=svg,
    )


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


def _heat_alt(
    network: str,
    response: str,
    kind: str,
    values: Values,
    rows: Sequence[str],
    columns: Sequence[str],
) -> str:
    ends = []
    for find in (np.nanargmin, np.nanargmax):
        row, column = divmod(int(find(values)), len(columns))
        ends.append(f"{values[row, column]:.3f} ({rows[row]}, {columns[column]} RTT)")
    return (
        f"Heat map of {network} {response}, {kind}, by policy and flavor over buffer: "
        f"from {ends[0]} to {ends[1]}. The table above has every value."
    )


def effects(results: Results, network: str, response: str) -> Plot | None:
    """Main effects with their intervals, measured beside published; None without an ANOVA."""
    anova = results.anova(network, response)
    if anova is None:
        return None
    published = results.published_anova(network, response)
    name = f"effects-{network.lower()}-{response}"
    names = [f"{effect.levels[0]}{_unit(effect.factors[0])}" for effect in anova.effects]
    with style(name):
        figure = Figure(figsize=(4.6, 3.2))
        axes = figure.subplots()
        _intervals(axes, anova, 0, -0.14, "measured")
        if published is not None:
            _intervals(axes, published, 1, 0.14, "published")
        axes.axvline(0, color=TEXT, lw=0.8)
        axes.set_yticks(range(len(names)), names)
        axes.invert_yaxis()
        axes.set(title=f"{network} {response}", xlabel="main effect, 90 % interval")
        axes.legend(loc="best")
        svg = to_svg(figure)
    telling = [
        f"{effect.levels[0]} {effect.effect:+.3f}" for effect in anova.effects if effect.significant
    ]
    return Plot(
        name=name,
        title=f"{network} {response}: main effects",
        alt=f"Main effects on {network} {response} with 90 % confidence intervals, measured and "
        f"published. Measured effects whose interval excludes 0: {', '.join(telling) or 'none'}.",
        svg=svg,
    )


def _unit(factor: str) -> str:
    return " RTT" if factor == "buffer" else ""


def _intervals(axes: Axes, anova: Anova, series: int, offset: float, label: str) -> None:
    places = [place + offset for place in range(len(anova.effects))]
    centres = [effect.effect for effect in anova.effects]
    widths = [effect.high - effect.effect for effect in anova.effects]
    axes.errorbar(
        centres, places, xerr=widths, fmt=marker(series), ms=4, capsize=2.5, lw=1.2,
        color=colour(series), label=label,
    )  # fmt: skip


def interactions(results: Results, network: str, response: str) -> list[Plot]:
    """Means over two factors at a time, measured (solid) and published (dashed)."""
    pairs = (("flavor", "buffer"), ("policy", "buffer"), ("policy", "flavor"))
    return [_interaction(results, network, response, lines, along) for lines, along in pairs]


def _interaction(results: Results, network: str, response: str, lines: str, along: str) -> Plot:
    cells = results.of(network, response)
    columns = results.campaign.levels(along)
    name = f"interaction-{network.lower()}-{response}-{lines}-{along}"
    with style(name):
        figure = Figure(figsize=(4.0, 2.9))
        axes = figure.subplots()
        for place, level in enumerate(results.campaign.levels(lines)):
            chosen = [cell for cell in cells if getattr(cell, lines) == level]
            means = [_mean(c.estimate.mean for c in chosen if getattr(c, along) == x)
                     for x in columns]  # fmt: skip
            papers = [_mean(_or_nan(c.paper) for c in chosen if getattr(c, along) == x)
                      for x in columns]  # fmt: skip
            look: dict[str, Any] = {"color": colour(place), "marker": marker(place), "ms": 4}
            axes.plot(columns, means, label=level, lw=1.6, **look)
            axes.plot(columns, papers, lw=1, ls="--", alpha=0.6, **look, mfc="none")
        axes.set(
            title=f"{network} {response}: {lines} by {along}",
            xlabel=f"{along} (RTT)" if along == "buffer" else along,
            ylabel=response,
        )
        axes.legend(loc="best", ncols=2)
        svg = to_svg(figure)
    return Plot(
        name=name,
        title=f"{network} {response}: {lines} by {along}",
        alt=_interaction_alt(results, network, response, lines, along),
        svg=svg,
    )


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return float(np.mean(found)) if found else float("nan")


def _figure(value: float) -> str:
    return MISSING if np.isnan(value) else f"{value:.3f}"


def _interaction_alt(results: Results, network: str, response: str, lines: str, along: str) -> str:
    """The two ends of each measured line."""
    cells = results.of(network, response)
    ends = [results.campaign.levels(along)[place] for place in (0, -1)]
    texts = []
    for level in results.campaign.levels(lines):
        values = [
            _mean(
                cell.estimate.mean
                for cell in cells
                if (getattr(cell, lines), getattr(cell, along)) == (level, end)
            )
            for end in ends
        ]
        texts.append(f"{level} {_figure(values[0])} to {_figure(values[1])}")
    return (
        f"Interaction of {lines} and {along} in {network} {response}, measured solid, published "
        f"dashed. Measured, from {along} {ends[0]} to {ends[1]}: {', '.join(texts)}."
    )


def variant_effects(results: Results, sheet: Sheet, response: str) -> Plot | None:
    """Effect of each variant against the first on the mean of each network; None without any."""
    places = {column.name: place for place, column in enumerate(sheet.columns)}
    found: dict[str, dict[str, float]] = {}
    for row in sheet.rows:
        value = row[places[f"{response}_effect"]]
        if isinstance(value, float):
            found.setdefault(str(row[places["network"]]), {})[str(row[0])] = value
    names = list(results.variants)[1:]
    if not names or not found:
        return None
    name = f"variants-{response}"
    with style(name):
        figure = Figure(figsize=(4.6, 1.2 + 0.3 * len(names)))
        axes = figure.subplots()
        for place, (network, values) in enumerate(found.items()):
            shown = [variant for variant in names if variant in values]
            axes.plot(
                [values[variant] for variant in shown], [names.index(v) for v in shown],
                ls="", marker=marker(place), color=colour(place), label=network,
            )  # fmt: skip
        axes.axvline(0, color=TEXT, lw=0.8)
        axes.set_yticks(range(len(names)), names)
        axes.set_ylim(len(names) - 0.5, -0.5)
        axes.set(title=response.capitalize(), xlabel="less the first variant")
        axes.legend()
        svg = to_svg(figure)
    return Plot(
        name=name,
        title=f"{response.capitalize()}: effect of each variant",
        alt=_variants_alt(results, found, response),
        svg=svg,
    )


def _variants_alt(results: Results, found: dict[str, dict[str, float]], response: str) -> str:
    texts = []
    for network, values in found.items():
        strongest = max(values, key=lambda variant: abs(values[variant]))
        texts.append(f"in {network} {strongest}, {values[strongest]:+.3f}")
    first = next(iter(results.variants))
    return f"Effect of each variant on mean {response}, less {first}. Strongest: " + "; ".join(
        texts
    )
