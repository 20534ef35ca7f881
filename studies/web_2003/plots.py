# SPDX-License-Identifier: GPL-2.0-only
"""Its plots: distribution functions side by side as on the slides, quantiles over the load."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter

from analysis.cells import Cell
from analysis.report.model import Plot
from analysis.report.results import Results
from analysis.report.svg import colour, marker, style, to_svg
from analysis.statistics import distribution
from studies.web_2003.study import QUEUES, SENDERS
from studies.web_2003.times import Values, exchanges, quantile

SHOWN = np.linspace(0, 1, 301)
"""Shares at which a distribution function is drawn: none of its steps is a pixel high."""
LONGEST_MS = 2000
"""Beyond it the functions run together near 1, but where a line is far from 1 at this time."""
SHORTEST_MS, LONGEST_OF_ALL_MS = 10, 1e6
FAR = 0.75


def pooled(cells: Sequence[Cell]) -> Values:
    """The response times of all trials of some cells [ms]."""
    found = [one.response_ms for cell in cells for t in cell.trials if (one := exchanges(t))]
    return np.concatenate(found) if found else np.empty(0)


def functions(load: str, title: str, name: str, times: Mapping[str, Values]) -> Plot:
    """The distribution functions of the response times [ms], a line each, up to LONGEST_MS."""
    whole = f"{load} %: {title}"
    with style(name):
        figure = Figure(figsize=(4.2, 3.0))
        axes = figure.subplots()
        for place, (label, values) in enumerate(times.items()):
            x, share = distribution(values)
            at = np.minimum((SHOWN * len(x)).astype(int), len(x) - 1)
            line = "-" if place % 2 == 0 else "--"
            axes.plot(x[at], share[at], line, lw=1.6, color=colour(place), label=label)
        axes.set(
            title=whole, xlabel="response time (ms)", ylabel="share at most",
            xlim=(0, LONGEST_MS), ylim=(0, 1),
        )  # fmt: skip
        if any(np.mean(values <= LONGEST_MS) < FAR for values in times.values()):
            axes.set_xscale("log")
            axes.set_xlim(SHORTEST_MS, LONGEST_OF_ALL_MS)
        axes.legend(loc="lower right")
        svg = to_svg(figure)
    told = "; ".join(f"{label} {_told(values)}" for label, values in times.items())
    alt = f"Distribution functions of response times at {whole}. Medians, 90th percentiles: {told}."
    return Plot(name=name, title=whole, alt=alt, svg=svg)


def _told(values: Values) -> str:
    found = (quantile(values, share) for share in (0.5, 0.9))
    return " and ".join("without end" if one is None else f"{one:,.0f} ms" for one in found)


def over_load(results: Results, response: str, title: str) -> Plot:
    """A response over the load, a line a queue and sender, with intervals over the seeds."""
    name = f"over-load-{response}"
    ends = []
    with style(name):
        figure = Figure(figsize=(4.8, 3.4))
        axes = figure.subplots()
        for place, queue in enumerate(QUEUES):
            for sender, line, face in zip(SENDERS, ("--", "-"), ("none", None), strict=True):
                points = _points(results, response, queue, sender)
                if not points:
                    continue
                loads, means, halves = zip(*points, strict=True)
                axes.errorbar(
                    loads, means, halves, ls=line, marker=marker(place), ms=4, mfc=face, lw=1.3,
                    capsize=2, color=colour(place), label=f"{queue}, {sender}",
                )  # fmt: skip
                ends.append(f"{queue} with {sender} {means[0]:,.0f} to {means[-1]:,.0f}")
        axes.set(title=title, xlabel="offered load (%)", ylabel="ms")
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_major_formatter("{x:,.0f}")
        axes.yaxis.set_minor_formatter(NullFormatter())
        axes.legend(fontsize=7)
        svg = to_svg(figure)
    alt = f"{title} over the offered load, least to most: {'; '.join(ends)} ms."
    return Plot(name=name, title=f"{title} over the load", alt=alt, svg=svg)


def _points(
    results: Results, response: str, queue: str, sender: str
) -> list[tuple[float, float, float]]:
    """(load, mean, half-width of its interval or 0) of a queue and sender."""
    cells = [cell for cell in results.cells if cell.matches({"queue": [queue], "sender": [sender]})]
    found = [(float(cell.levels["load"]), cell.estimate(response)) for cell in cells]
    return sorted((load, one.mean, one.half_width or 0.0) for load, one in found if one)
