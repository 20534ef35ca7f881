# SPDX-License-Identifier: GPL-2.0-only
"""Its plots: cells by policy beside the published, and by the number of sources."""

import statistics
from collections.abc import Iterable, Sequence

from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from analysis.cells import Cell
from analysis.report.model import Plot
from analysis.report.results import Results
from analysis.report.svg import TEXT, colour, marker, style, to_svg
from studies.ubr_1996.path import sources

FEWEST_NUMBERS = 3
"""Below so many numbers of sources a line tells nothing that the table does not."""
Places = dict[tuple[str, ...], list[Cell]]


def _varying(results: Results, network: str) -> list[str]:
    """Factors that have more than one level in a network, in the experiment's order."""
    names = [name for name in results.campaign.factors if name != "network"]
    return [name for name in names if len(results.levels(network, name)) > 1]


def dots(results: Results, network: str, response: str) -> Plot:
    """A line a set of levels, a mark a policy with its interval, a cross its published value."""
    cells = results.every(network)
    along = [name for name in _varying(results, network) if name != "policy"]
    places = _groups(cells, along)
    policies = list(dict.fromkeys(cell.levels["policy"] for cell in cells))
    name = f"rows-{network.lower()}-{response}"
    with style(name):
        figure = Figure(figsize=(4.8, 1.1 + 0.34 * len(places)))
        axes = figure.subplots()
        for number, policy in enumerate(policies):
            marked = [
                (place + 0.22 * (number - (len(policies) - 1) / 2), cell)
                for place, group in enumerate(places.values())
                for cell in group
                if cell.levels["policy"] == policy
            ]
            known = [(y, one) for y, cell in marked if (one := cell.estimate(response))]
            found = [one for _, one in known]
            heights = [height for height, _ in known]
            axes.errorbar(
                [one.mean for one in found], heights, xerr=[one.half_width or 0 for one in found],
                fmt=marker(number), ms=4, lw=1, capsize=2, color=colour(number), label=policy,
            )  # fmt: skip
            there = [(c.published[response], y) for y, c in marked if response in c.published]
            if there:
                axes.plot(*zip(*there, strict=True), "x", ms=6, color=colour(number))
        if any(cell.published for cell in cells):
            axes.plot([], [], "x", ms=6, color=TEXT, label="published")
        axes.set_yticks(range(len(places)), [" / ".join(key) for key in places])
        axes.set_ylim(len(places) - 0.5, -0.5)
        axes.set(xlim=(0, 1.03), xlabel=response, ylabel=" / ".join(along))
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=4, columnspacing=1)
        axes.set_title(f"{network} {response}", pad=24)
        svg = to_svg(figure)
    return Plot(
        name=name,
        title=f"{network} {response} by policy",
        alt=f"{network}, {response} of every cell by policy, measured with 95 % intervals and "
        f"published: {_means(cells, policies, response)}. The table above has every value.",
        svg=svg,
    )


def _means(cells: Sequence[Cell], policies: Iterable[str], response: str) -> str:
    texts = []
    for policy in policies:
        chosen = [cell for cell in cells if cell.levels["policy"] == policy]
        means = [mean for cell in chosen if (mean := cell.mean(response)) is not None]
        if means:
            texts.append(f"mean of {len(means)} rows under {policy} {statistics.fmean(means):.3f}")
    return ", ".join(texts)


def by_sources(results: Results, network: str, response: str) -> Plot | None:
    """A response over the number of sources, all else equal; None without enough numbers."""
    others = [name for name in _varying(results, network) if name != "sources"]
    known = [cell for cell in results.every(network) if cell.values(response)]
    lines = {
        key: sorted(group, key=sources)
        for key, group in _groups(known, others).items()
        if len(group) >= FEWEST_NUMBERS
    }
    if not lines:
        return None
    name = f"sources-{network.lower()}-{response}"
    with style(name):
        figure = Figure(figsize=(4.4, 3.2))
        axes = figure.subplots()
        for place, (key, group) in enumerate(lines.items()):
            axes.plot(
                [sources(cell) for cell in group],
                [statistics.fmean(cell.values(response)) for cell in group],
                marker=marker(place), ms=4, lw=1.2, color=colour(place), label=" / ".join(key),
            )  # fmt: skip
        numbers = sorted({sources(cell) for group in lines.values() for cell in group})
        axes.set_xscale("log")
        axes.set_xticks(numbers, [str(number) for number in numbers])
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.set(title=f"{network} {response}", xlabel="sources", ylabel=response, ylim=(0, 1.03))
        axes.legend(title=" / ".join(others) if len(lines) > 1 else None)
        svg = to_svg(figure)
    return Plot(
        name=name,
        title=f"{network} {response} by number of sources",
        alt=f"{network}, {response} over the number of sources: {_ends(lines, response)}.",
        svg=svg,
    )


def _ends(lines: Places, response: str) -> str:
    texts = []
    for key, group in lines.items():
        first, last = (statistics.fmean(group[place].values(response)) for place in (0, -1))
        numbers = [sources(group[place]) for place in (0, -1)]
        texts.append(
            f"{' '.join(key)} {first:.3f} with {numbers[0]}, {last:.3f} with {numbers[1]}".strip()
        )
    return "; ".join(texts)


def _groups(cells: Iterable[Cell], names: Sequence[str]) -> Places:
    """Cells by their levels of some factors, in the order of the cells."""
    found: Places = {}
    for cell in cells:
        found.setdefault(tuple(cell.levels[name] for name in names), []).append(cell)
    return found
