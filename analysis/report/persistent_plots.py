# SPDX-License-Identifier: GPL-2.0-only
"""The plots of persistent sources: rows by policy beside the published, and by their number."""

import statistics
from collections.abc import Iterable, Sequence

from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from analysis.comparison import estimate
from analysis.persistent import Row
from analysis.report.model import Plot
from analysis.report.svg import TEXT, colour, marker, style, to_svg

FEWEST_NUMBERS = 3
"""Below so many numbers of sources a line tells nothing that the table does not."""
Places = dict[tuple[str, ...], list[Row]]


def dots(network: str, rows: Sequence[Row], varying: Sequence[str], response: str) -> Plot:
    """A line a row, a mark a policy with its interval, and the published values as crosses."""
    along = [name for name in varying if name != "policy"]
    places = _groups(rows, along)
    policies = list(dict.fromkeys(row.factors["policy"] for row in rows))
    name = f"rows-{network.lower()}-{response}"
    with style(name):
        figure = Figure(figsize=(4.8, 1.1 + 0.34 * len(places)))
        axes = figure.subplots()
        for number, policy in enumerate(policies):
            marked = [
                (place + 0.22 * (number - (len(policies) - 1) / 2), row)
                for place, group in enumerate(places.values())
                for row in group
                if row.factors["policy"] == policy
            ]
            measured = [(y, row.values(response)) for y, row in marked if row.values(response)]
            found = [estimate(values) for _, values in measured]
            heights = [height for height, _ in measured]
            axes.errorbar(
                [one.mean for one in found], heights, xerr=[one.half_width or 0 for one in found],
                fmt=marker(number), ms=4, lw=1, capsize=2, color=colour(number), label=policy,
            )  # fmt: skip
            there = [(row.paper[response], y) for y, row in marked if row.paper]
            if there:
                axes.plot(*zip(*there, strict=True), "x", ms=6, color=colour(number))
        if any(row.paper for row in rows):
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
        alt=f"{network}, {response} of every row by policy, measured with 95 % intervals and "
        f"published: {_means(rows, policies, response)}. The table above has every value.",
        svg=svg,
    )


def _means(rows: Sequence[Row], policies: Iterable[str], response: str) -> str:
    texts = []
    for policy in policies:
        chosen = [row for row in rows if row.factors["policy"] == policy]
        means = [mean for row in chosen if (mean := row.mean(response)) is not None]
        if means:
            texts.append(
                f"mean of {len(means)} rows under {policy} {statistics.fmean(means):.3f}"
            )
    return ", ".join(texts)


def by_sources(
    network: str, rows: Sequence[Row], varying: Sequence[str], response: str
) -> Plot | None:
    """A response over the number of sources, all else equal; None without enough numbers."""
    others = [name for name in varying if name != "sources"]
    known = [row for row in rows if row.values(response)]
    lines = {
        key: sorted(group, key=lambda row: row.sources)
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
                [row.sources for row in group],
                [statistics.fmean(row.values(response)) for row in group],
                marker=marker(place), ms=4, lw=1.2, color=colour(place), label=" / ".join(key),
            )  # fmt: skip
        numbers = sorted({row.sources for group in lines.values() for row in group})
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
        numbers = [group[place].sources for place in (0, -1)]
        texts.append(
            f"{' '.join(key)} {first:.3f} with {numbers[0]}, {last:.3f} with {numbers[1]}".strip()
        )
    return "; ".join(texts)


def _groups(rows: Iterable[Row], names: Sequence[str]) -> Places:
    """Rows by their levels of some factors, in the order of the rows."""
    found: Places = {}
    for row in rows:
        found.setdefault(tuple(row.factors[name] for name in names), []).append(row)
    return found
