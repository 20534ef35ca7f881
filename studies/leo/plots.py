# SPDX-License-Identifier: GPL-2.0-only
"""Its plots: a response by sender, a mark for each path or queue, with intervals over the seeds."""

from collections.abc import Sequence

from matplotlib.figure import Figure

from analysis.cells import Cell
from analysis.report.model import Plot
from analysis.report.svg import colour, marker, style, to_svg
from analysis.statistics import Estimate

LABELS = {
    "efficiency": "efficiency",
    "fairness": "fairness",
    "use_after_handover": "share of the rate, after minus before",
    "queue_delay_ms": "queue delay (ms)",
}
ALONG = ("network", "flows", "buffer", "policy")
WIDE = 0.12
"""The distance of two marks of one sender."""


def by_sender(every_cell: Sequence[Cell], response: str, label: str) -> Plot:
    """A mark for each combination of the levels of the other factors, beside its sender."""
    senders = _levels_of(every_cell, "sender")
    along = [factor for factor in ALONG if len(_levels_of(every_cell, factor)) > 1]
    groups = dict.fromkeys(_levels(cell, along) for cell in every_cell)
    name = f"by-sender-{response}"
    told: list[str] = []
    drawn: list[Estimate] = []
    with style(name):
        figure = Figure(figsize=(5.2, 3.4))
        axes = figure.subplots()
        for number, group in enumerate(groups):
            cells = [cell for cell in every_cell if _levels(cell, along) == group]
            known = [(cell, one) for cell in cells if (one := cell.estimate(response))]
            shift = WIDE * (number - (len(groups) - 1) / 2)
            axes.errorbar(
                [senders.index(cell.levels["sender"]) + shift for cell, _ in known],
                [one.mean for _, one in known],
                [one.half_width or 0.0 for _, one in known],
                fmt=marker(number), ms=4, lw=1, capsize=2, color=colour(number),
                label=", ".join(group),
            )  # fmt: skip
            drawn += [one for _, one in known]
            told += [
                f"{cell.levels['sender']} {', '.join(group)} {one.mean:.3g}" for cell, one in known
            ]
        axes.set_xticks(range(len(senders)), senders)
        axes.set(ylabel=label)
        if all(one.mean >= 0 for one in drawn):
            axes.set_ylim(bottom=0)
        axes.legend(ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.1))
        svg = to_svg(figure)
    return Plot(
        name=name,
        title=f"{label} by sender",
        alt=f"{label} by sender, means with 95 % intervals over the seeds: {'; '.join(told)}.",
        svg=svg,
    )


def _levels(cell: Cell, along: Sequence[str]) -> tuple[str, ...]:
    return tuple(cell.levels[factor] for factor in along)


def _levels_of(cells: Sequence[Cell], factor: str) -> list[str]:
    return list(dict.fromkeys(cell.levels[factor] for cell in cells))
