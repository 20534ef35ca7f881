# SPDX-License-Identifier: GPL-2.0-only
"""Figures of a campaign and of one trial, as the report has them.

Each function returns a matplotlib figure; `figure.axes[0]` are its axes. With `axes=`, a function
draws into these axes and returns their figure. Times are in seconds of the virtual clock. A
function raises UsageError if the trial did not record the table that it draws.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from math import nan
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.cells import Cell, cells_of
from analysis.goodput import goodput as goodput_of
from analysis.records import Trial, level_text
from analysis.report import link_plots, trial_plots
from analysis.report.drawing import Drawing
from analysis.report.overview import UPPER, WIDE
from analysis.report.svg import SERIES, colour, light, marker
from analysis.statistics import Estimate
from analysis.typed import are_numbers, levels_of
from harness.api.arguments import check_pairs, check_step, shown, text_of
from harness.api.campaign import Campaign, told
from harness.api.tables import no_goodput, why_empty
from harness.design.experiment import Level
from plan.errors import UsageError
from plan.near import choices

PAIRS = "; plot.pairs(trial) draws the throughput of each pair"
NO_SHARES = "no flow of the trial has a fair share"


class Picture(Figure):
    """A figure that a notebook shows where it is a cell's value."""

    def _repr_png_(self) -> bytes:
        stream = io.BytesIO()
        self.savefig(stream, format="png", bbox_inches="tight")
        return stream.getvalue()


def means(
    campaign: Campaign,
    metric: str,
    *,
    along: str,
    lines: str | None = None,
    axes: Axes | None = None,
    **where: Level,
) -> Figure:
    """Draw a metric's mean over the seeds against the levels of a factor.

    A mean of several seeds has its 95 % interval (Student's t). Levels that are numbers stand on an
    axis of numbers, others side by side. The vertical axis begins at 0. If all values lie in the
    upper fifth of this axis, it shows only this fifth, and its label says so. With negative
    values, matplotlib chooses the axis.

    Args:
        metric: a metric of Campaign.cells(), in its own unit.
        along: the factor whose levels are on the horizontal axis.
        lines: the factor whose levels are lines; None: one line.
        axes: the matplotlib axes to draw into; None: a figure of its own.
        where: one level of each other factor that has several levels.

    Raises:
        UsageError: a factor or the metric does not exist, or several cells would be drawn at one
            place because `where` does not choose between them.
    """
    if not isinstance(campaign, Campaign):
        raise UsageError(
            f"campaign = {shown(campaign)}: must be a campaign, such as cellbed.Campaign(FOLDER)"
        )
    check_axes(axes)
    for name, value in {"metric": metric, "along": along, "lines": lines or ""}.items():
        text_of(value, name)
    found = cells(campaign, metric, {"along": along, "lines": lines}, where)
    levels = campaign.records.levels
    places = places_of(campaign, along)

    def paint(axes: Axes) -> None:
        for place, line in enumerate(levels(lines) if lines else [""]):
            at = [level for level in places if (level, line) in found]
            some = [found[level, line] for level in at]
            axes.errorbar(
                [places[level] for level in at],
                [one.mean for one in some], [one.half_width or nan for one in some],
                fmt=marker(place) + "-", ms=4, lw=1.4, capsize=2.5, color=colour(place),
                label=f"{lines} {line}" if lines else None,
            )  # fmt: skip
        name_places(axes, places)
        axes.set(xlabel=along, ylabel=metric.replace("_", " "))
        begin_axis(axes, metric, found.values())
        if lines:
            axes.legend()

    return drawn(paint, axes)


def places_of(campaign: Campaign, along: str) -> dict[str, float]:
    """Return where each level stands: a number at its value, others at 0, 1 and so on."""
    texts = campaign.records.levels(along)
    levels = levels_of(campaign.records)[along]
    if not are_numbers([levels[text] for text in texts]):
        return {text: float(place) for place, text in enumerate(texts)}
    return dict(sorted(((text, float(levels[text])) for text in texts), key=lambda one: one[1]))


def name_places(axes: Axes, places: Mapping[str, float]) -> None:
    """Mark each level on the horizontal axis; far apart numbers stand on a logarithmic axis."""
    least, largest = min(places.values()), max(places.values())
    if least > 0 and largest / least >= WIDE:
        axes.set_xscale("log")
        axes.minorticks_off()
    axes.set_xticks([*places.values()], [*places])


def begin_axis(axes: Axes, metric: str, found: Iterable[Estimate]) -> None:
    """Begin the vertical axis at 0, or where the report's axis begins, and say so."""
    ends = [one.mean + side * (one.half_width or 0.0) for one in found for side in (-1, 1)]
    if min(ends) < 0:
        return
    begin = UPPER * max(ends) if min(ends) > UPPER * max(ends) else 0.0
    axes.set_ylim(begin, axes.get_ylim()[1])
    if begin:
        axes.set_ylabel(f"{metric.replace('_', ' ')} (axis begins at {begin:.3g})")


def cells(
    campaign: Campaign, metric: str, named: dict[str, str | None], where: dict[str, Level]
) -> dict[tuple[str, str], Estimate]:
    """Return the estimate of each cell by its level along and its line; UsageError as means()."""
    for factor in (*filter(None, named.values()), *where):
        if factor not in campaign.factors:
            raise UsageError(f"{factor} is no factor; {choices(factor, campaign.factors)}")
    wanted = {factor: [level] for factor, level in where.items()}
    chosen = [cell for cell in cells_of(campaign.records.trials) if cell.matches(wanted)]
    found: dict[tuple[str, str], Estimate] = {}
    for cell in chosen:
        one, place = cell.estimate(metric), at(cell, named)
        if place in found:
            others = [f for f in campaign.factors if f not in {*named.values(), *where}]
            level = level_text(campaign.factors[others[0]][0])
            raise UsageError(
                "several combinations have the same place in the figure; draw a line for each level"
                f' with lines="{others[0]}", or choose a level of {", ".join(others)}, as'
                f' **{{"{others[0]}": "{level}"}}'
            )
        if one is not None:
            found[place] = one
    if not found:
        known = dict.fromkeys(name for cell in chosen for name in cell.metrics)
        levels = ", ".join(f"{factor}={level_text(level)}" for factor, level in where.items())
        text = f"no combination has the metric {metric}{' with ' + levels if levels else ''}"
        raise UsageError(f"{text}; {choices(metric, known)}")
    return found


def at(cell: Cell, named: dict[str, str | None]) -> tuple[str, str]:
    """A cell's level along the axis, and that of its line."""
    along, lines = (cell.levels.get(factor, "") if factor else "" for factor in named.values())
    return along, lines


def queue(trial: Trial, axes: Axes | None = None) -> Figure:
    """Draw the length of the queue towards the clients over time, in cells or packets.

    If the middle links have names, draw the queue of each link.
    """

    def draw(trial: Trial) -> Drawing | None:
        return trial_plots.queue(trial) or link_plots.queues(trial)

    return of_trial(trial, draw, "queue", axes)


def drops(trial: Trial, axes: Axes | None = None) -> Figure:
    """Draw the number of frames that the queue towards the clients dropped in each second, by
    cause."""
    return of_trial(trial, trial_plots.drops, "drops", axes)


def windows(trial: Trial, axes: Axes | None = None, *, pairs: Sequence[int] = ()) -> Figure:
    """Draw the congestion windows of the servers over time, in segments.

    Args:
        pairs: the numbers of pairs, from 1; without any, the first five that the trial followed.

    Raises:
        UsageError: the trial did not record the window of one of `pairs`.
    """
    check_pairs(pairs)
    if pairs and isinstance(trial, Trial):
        _require_followed(trial, pairs)
    draw = partial(trial_plots.windows, chosen=pairs)
    return of_trial(trial, draw, "cwnd", axes)


def _require_followed(trial: Trial, pairs: Sequence[int]) -> None:
    followed = {int(row["pair"] or 0) for row in trial.series("cwnd") or ()}
    if missing := [pair for pair in pairs if pair not in followed]:
        raise UsageError(
            f"{trial.name}: the window of pair {missing[0]} was not recorded; record.cwnd_pairs "
            f"chose the pairs {', '.join(map(str, sorted(followed))) or '(none)'}"
        )


def throughput(trial: Trial, axes: Axes | None = None) -> Figure:
    """Draw the throughput of the answers that were complete by the end, in Mbit/s over time.

    The bytes of an answer are spread evenly from its first byte to its last byte.
    """
    return of_trial(trial, trial_plots.throughput, "requests", axes, PAIRS)


def pairs(trial: Trial, axes: Axes | None = None) -> Figure:
    """Draw the throughput of each pair in Mbit/s over time, counted in IP packets.

    If there are more than five pairs, the lines are the largest, the median and the smallest.
    """
    return of_trial(trial, trial_plots.pairs, "throughput", axes)


def completion(trial: Trial, axes: Axes | None = None) -> Figure:
    """Draw the distribution of the requests' completion times in seconds, by file class."""
    return of_trial(trial, trial_plots.completion, "requests", axes)


def shares(trial: Trial, axes: Axes | None = None) -> Figure:
    """Draw the bytes that each client received, divided by its max-min fair share.

    98-0876R1, section 7, defines the fair share.
    """
    return of_trial(trial, trial_plots.shares, "", axes)


def goodput(
    trial: Trial, axes: Axes | None = None, *, step_s: float = 1.0, pairs: Sequence[int] = ()
) -> Figure:
    """Draw the goodput of pairs in Mbit/s over time: TCP payload that the clients received.

    Campaign.goodput() says how it is measured, and has the same figures as a table.

    Args:
        step_s: the length of an interval [s]; each interval is one step of a line.
        pairs: the numbers of pairs, from 1; without any, the first five.

    Raises:
        UsageError: the record does not tell the goodput, or not that of one of `pairs`.
    """
    check_trial(trial)
    check_axes(axes)
    check_step(step_s)
    check_pairs(pairs)
    with told():
        found = goodput_of(trial, step_s)
    if found is None:
        raise UsageError(f"{trial.name}: {no_goodput([trial])}")
    if missing := [pair for pair in pairs if pair not in found.bit_per_s]:
        known = ", ".join(map(str, found.bit_per_s))
        raise UsageError(
            f"{trial.name}: pair {missing[0]} has no goodput; pairs with it are {known}"
        )
    drawn_pairs = list(pairs) or list(found.bit_per_s)[: len(SERIES)]

    def paint(axes: Axes) -> None:
        for place, pair in enumerate(drawn_pairs):
            rate = found.bit_per_s[pair] / 1e6
            axes.stairs(
                rate, found.edges_s, baseline=None, lw=1, color=colour(place), label=f"pair {pair}"
            )
        axes.set(xlabel="time (s)", ylabel="Mbit/s", xlim=(0, None), ylim=(0, None))
        axes.set_title("Goodput by pair")
        axes.legend(ncols=3)

    return drawn(paint, axes)


def check_trial(trial: object) -> None:
    """UsageError for what is no trial."""
    if not isinstance(trial, Trial):
        raise UsageError(f"trial = {shown(trial)}: must be a trial, such as campaign.trial(seed=1)")


def check_axes(axes: object) -> None:
    """UsageError for what is neither axes nor None."""
    if axes is not None and not isinstance(axes, Axes):
        raise UsageError(f"axes = {shown(axes)}: must be axes of matplotlib, or None")


def of_trial(
    trial: Trial, draw: Callable[[Trial], Drawing | None], table: str, axes: Axes | None,
    instead: str = "",
) -> Figure:  # fmt: skip
    """Return one of a trial's plots; UsageError if it has nothing to draw.

    table: the table that the plot draws, or "" for fair shares. instead: what draws another table
    of such a trial.
    """
    check_trial(trial)
    check_axes(axes)
    drawing = draw(trial)
    if drawing is None:
        why = why_empty(table, [trial]) if table else NO_SHARES
        if (trial.folder / f"{table}.csv").is_file():
            why = f"{table}.csv has no row that the plot could show"
        raise UsageError(f"{trial.name} has nothing to draw: {why}{instead}")

    def paint(axes: Axes) -> None:
        drawing.paint(axes)
        axes.set_title(drawing.title)

    return drawn(paint, axes)


def drawn(paint: Callable[[Axes], None], axes: Axes | None) -> Figure:
    """Return the figure that paint draws in the report's style, into axes or into its own."""
    settings: Any = light()
    with mpl.rc_context(settings):
        if axes is None:
            axes = Picture(figsize=(4.8, 3.0), layout="constrained").subplots()
        paint(axes)
    figure = axes.get_figure(root=True)
    assert figure is not None
    return figure
