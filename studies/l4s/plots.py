# SPDX-License-Identifier: GPL-2.0-only
"""Its plot: mean and 99th percentile of the time in the queue, of both senders in each cell."""

from __future__ import annotations

from matplotlib.figure import Figure

from analysis.report.model import Plot
from analysis.report.results import Results
from analysis.report.svg import colour, marker, style, to_svg

NAME = "delays"
DRAWN = (
    ("low_mean_ms", "{low}, mean"),
    ("low_p99_ms", "{low}, 99 %"),
    ("classic_mean_ms", "CUBIC, mean"),
    ("classic_p99_ms", "CUBIC, 99 %"),
)
WIDE = 0.15
"""The distance of two marks of one cell."""


def delays(results: Results) -> Plot:
    """A mark for each figure, with its interval over the seeds."""
    cells = [cell for cell in results.every_cell if cell.estimate(DRAWN[0][0])]
    low = "scalable sender" if "sender" in results.campaign.factors else "DCTCP"
    told: list[str] = []
    with style(NAME):
        figure = Figure(figsize=(5.6, 3.4))
        axes = figure.subplots()
        for place, (response, title) in enumerate(DRAWN):
            label = title.format(low=low)
            found = {n: one for n, cell in enumerate(cells) if (one := cell.estimate(response))}
            if not found:  # no cell has this sender
                continue
            shift = WIDE * (place - (len(DRAWN) - 1) / 2)
            axes.errorbar(
                [number + shift for number in found],
                [one.mean for one in found.values()],
                [one.half_width or 0.0 for one in found.values()],
                fmt=marker(place), ms=4, lw=1, capsize=2, color=colour(place // 2),
                markerfacecolor="none" if place % 2 else None, label=label,
            )  # fmt: skip
            told += [f"{label} {cells[n].name} {one.mean:.3g}" for n, one in found.items()]
        axes.set_xticks(range(len(cells)), [cell.name.replace(" ", "\n") for cell in cells])
        axes.set_yscale("log")
        axes.set(ylabel="time in the queue (ms)")
        axes.legend(ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.2))
        svg = to_svg(figure)
    return Plot(
        name=NAME,
        title="Time in the queue",
        alt="Time in the queue (ms), means with 95 % intervals over the seeds: "
        + "; ".join(told) + ".",
        svg=svg,
    )  # fmt: skip
