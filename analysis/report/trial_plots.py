# SPDX-License-Identifier: GPL-2.0-only
"""The plots of one trial, from whatever series it recorded."""

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from analysis import by_pair
from analysis.records import Trial, level_text
from analysis.report import link_plots, path_plots, video_plots
from analysis.report.answers import taken_s
from analysis.report.drawing import MOST_POINTS, Drawing
from analysis.report.model import Plot
from analysis.report.picture import picture
from analysis.report.svg import SERIES, colour, ink, style, to_svg
from plan.workload import measure_from_s

Values = NDArray[np.float64]
Rows = Sequence[dict[str, float | str | None]]

SECOND_NS = 1e9
LEAST_DRAWN_MS = 0.01
"""Where a packet that did not wait stands on the logarithmic axis."""
TCP_OVER_UDP_BYTES = 12  # the header of UDP is that much shorter than the header of TCP
# Length of a queue: its unit, and the column of queue.csv.
OCCUPANCY = {"cells": "occupancy_cells", "packets": "backlog_packets"}


def plots(trial: Trial) -> list[Plot]:
    """Path, queue, drops, throughput, windows, completion, video, fair shares; what there is."""
    kinds = (
        path_plots.rate, path_plots.delay, queue, sojourns, link_plots.queues, link_plots.rates,
        drops, throughput, pairs, link_plots.routes, windows, completion, video_plots.rates,
        video_plots.buffers, shares,
    )  # fmt: skip
    found = (draw(trial) for draw in kinds)
    return [plot(trial, drawing) for drawing in found if drawing is not None]


def plot(trial: Trial, drawing: Drawing) -> Plot:
    """A drawing of a trial as a report has it."""
    name = f"{trial.name}-{drawing.kind}"
    with style(name):
        figure = Figure(figsize=(4.4, 2.5))
        axes = figure.subplots()
        figure.subplots_adjust(left=0.14, right=0.97, bottom=0.18, top=0.9)
        drawing.paint(axes)
        axes.set_title(drawing.title)
        svg = to_svg(figure, tight=False)
        seen = {**picture(drawing.title, axes), "alt": drawing.alt}
    title = f"{drawing.title}, {trial.name}"
    return Plot(name=name, title=title, alt=drawing.alt, svg=svg, picture=seen)


def queue(trial: Trial, kind: str = "queue", title: str = "Queue occupancy") -> Drawing | None:
    """Cells, or packets, in the downward queue over time; None where it was not sampled.

    kind: the end of the plot's name, one of its own where a page shows the plot twice.
    """
    rows = _rows(trial, "queue", "down")
    if not rows:
        return None
    unit = next(unit for unit, column in OCCUPANCY.items() if column in rows[0])
    time_s, length = _column(rows, "time_ns") / SECOND_NS, _column(rows, OCCUPANCY[unit])
    buffer_cells = _buffer_cells(trial)

    def paint(axes: Axes) -> None:
        # While the queue is empty, one sample stands for all until the next packet.
        axes.step(*_thinned(time_s, length), where="post", color=colour(0), lw=0.9)
        if buffer_cells is not None:
            axes.axhline(buffer_cells, color=ink(), lw=0.8, ls="--")
        axes.set(xlabel="time (s)", ylabel=unit, ylim=(0, None))

    full = "" if buffer_cells is None else f"; the dashed line is the buffer of {buffer_cells:.0f}"
    alt = (
        f"{title} towards the clients over time, in {unit}: the mean is {length.mean():.0f}, "
        f"the largest value is {length.max():.0f}{full}."
    )
    return Drawing(kind=kind, title=title, alt=alt, paint=paint)


def sojourns(trial: Trial) -> Drawing | None:
    """The packets of each pair by their time in the downward queue (`sojourn.csv`).

    It has the first five pairs, and the packets that left in the measured interval.
    """
    begin_ns = measure_from_s(trial.plan.workload) * SECOND_NS
    end_ns = _duration_s(trial) * SECOND_NS
    found: dict[str, list[float]] = {}
    for row in _rows(trial, "sojourn", "down"):
        time_ns, waited_ns = row["time_ns"], row["sojourn_ns"]
        if not isinstance(time_ns, float) or not isinstance(waited_ns, float):
            continue
        if begin_ns <= time_ns < end_ns:
            found.setdefault(level_text(row["pair"]), []).append(waited_ns / 1e6)
    shown = {pair: np.sort(found[pair]) for pair in sorted(found, key=int)[: len(SERIES)]}
    if not shown:
        return None
    names = {pair: _named(trial, int(pair)) for pair in shown}

    def paint(axes: Axes) -> None:
        for place, (pair, waited) in enumerate(shown.items()):
            share = np.arange(1, len(waited) + 1) / len(waited)
            drawn = np.maximum(waited, LEAST_DRAWN_MS)
            axes.plot(*_thinned(drawn, share), color=colour(place), lw=1.2, label=names[pair])
        axes.set_xscale("log")
        axes.set(xlabel="time in the queue (ms)", ylabel="share of packets", ylim=(0, 1))
        axes.legend()

    told = "; ".join(
        f"{names[pair]} {np.mean(waited):.2f} and {np.percentile(waited, 99):.2f}"
        for pair, waited in shown.items()
    )
    alt = (
        "Share of the packets of each pair that were in the queue for at most a time. Mean and"
        f" 99th percentile in ms: {told}."
    )
    return Drawing(kind="sojourns", title="Time in the queue", alt=alt, paint=paint)


def _named(trial: Trial, pair: int) -> str:
    """A pair; with its flavor, if the pairs have several."""
    tcp = trial.plan.tcp
    return f"pair {pair}" + (f", {tcp.of_pair(pair).flavor.name}" if tcp.others else "")


def drops(trial: Trial) -> Drawing | None:
    recorded = trial.series("drops")
    if recorded is None or not trial.plan.record.value("drops"):
        return None
    rows = [row for row in recorded if row.get("port") == "down"]
    duration_s = _duration_s(trial)
    edges = np.arange(0, duration_s + 1)
    causes: dict[str, list[float]] = {}
    for row in rows:
        time_ns = row["time_ns"]
        if isinstance(time_ns, float):
            causes.setdefault(str(row["cause"]), []).append(time_ns / SECOND_NS)

    def paint(axes: Axes) -> None:
        base = np.zeros(len(edges) - 1)
        for place, (cause, times) in enumerate(sorted(causes.items())):
            counts = np.histogram(times, edges)[0]
            top = base + counts
            axes.stairs(top, edges, baseline=base, fill=True, color=colour(place), label=cause)
            base = top
        axes.set(xlabel="time (s)", ylabel="frames per second")
        if causes:
            axes.legend(ncols=2)

    counted = ", ".join(f"{len(times)} by {cause}" for cause, times in sorted(causes.items()))
    alt = f"Frames that the queue towards the clients dropped in each second: {counted or 'none'}."
    return Drawing(kind="drops", title="Frames dropped", alt=alt, paint=paint)


def throughput(trial: Trial) -> Drawing | None:
    rows = [row for row in trial.series("requests") or () if row["last_byte_ns"] is not None]
    if not rows:
        return None
    edges = np.arange(0, _duration_s(trial) + 1)
    begin = _column(rows, "first_byte_ns") / SECOND_NS
    end = _column(rows, "last_byte_ns") / SECOND_NS
    rate = _delivered_bytes(begin, end, _column(rows, "size_bytes"), edges) * 8 / 1e6
    capacity = trial.metrics.get("capacity_bit_per_s")

    def paint(axes: Axes) -> None:
        axes.stairs(rate, edges, color=colour(2), lw=1.1)
        if capacity is not None:
            axes.axhline(capacity / 1e6, color=ink(), lw=0.8, ls="--")
        axes.set(xlabel="time (s)", ylabel="Mbit/s", ylim=(0, None))

    alt = (
        f"Throughput of the answers that were complete by the end, in each second: "
        f"the mean is {rate.mean():.1f} Mbit/s, the largest value is {rate.max():.1f} Mbit/s."
    )
    return Drawing(kind="throughput", title="Throughput of completed answers", alt=alt, paint=paint)


def _delivered_bytes(begin: Values, end: Values, size: Values, edges: Values) -> Values:
    """Bytes in each bin, each answer's spread evenly from its first to its last byte."""
    end = np.maximum(end, begin + 1e-6)
    progress = [np.clip((edge - begin) / (end - begin), 0, 1) @ size for edge in edges]
    return np.diff(np.array(progress))


def pairs(trial: Trial) -> Drawing | None:
    """Throughput of each pair until the workload ends (`throughput.csv`); of many, their spread."""
    moments, total = by_pair.delivered(trial)
    # After the end, a source sends only what it still holds: this is no throughput of a full bin.
    whole = moments <= _duration_s(trial)
    moments, total = moments[whole], total[whole]
    found = by_pair.rates(moments, total, MOST_POINTS * total.shape[1])
    if found is None:
        return None
    time_s, rate = found
    if rate.shape[1] <= len(SERIES):
        lines = {f"pair {pair}": one for pair, one in enumerate(rate.T, start=1)}
    else:
        middle = np.median(rate, axis=1)
        lines = {"largest": rate.max(axis=1), "median": middle, "smallest": rate.min(axis=1)}

    def paint(axes: Axes) -> None:
        for place, (name, one) in enumerate(lines.items()):
            axes.stairs(one, time_s, color=colour(place), lw=1, label=name, baseline=None)
        axes.set(xlabel="time (s)", ylabel="Mbit/s", xlim=(0, None), ylim=(0, None))
        axes.legend(ncols=3)

    means = ", ".join(f"{name} {np.average(one, weights=np.diff(time_s)):.2f}"
                      for name, one in lines.items())  # fmt: skip
    alt = f"Throughput of {rate.shape[1]} pairs over time, in IP packets. Means in Mbit/s: {means}."
    return Drawing(kind="pairs", title="Throughput by pair", alt=alt, paint=paint)


def windows(trial: Trial, chosen: Sequence[int] = ()) -> Drawing | None:
    """Congestion windows of flows that the trial followed (`cwnd.csv`, or QUIC's own).

    chosen: their pairs [the first five]; one that was not followed is left out.
    """
    flows: dict[str, list[dict[str, float | str | None]]] = {}
    of_tcp = trial.series("cwnd")
    unit = "segments" if of_tcp else "full packets"
    for row in of_tcp or quic_windows(trial):
        flows.setdefault(level_text(row["pair"]), []).append(row)
    wanted = [str(pair) for pair in chosen] or sorted(flows, key=int)[: len(SERIES)]
    shown = {pair: flows[pair] for pair in wanted if pair in flows}
    if not shown:
        return None

    def paint(axes: Axes) -> None:
        for place, (pair, rows) in enumerate(shown.items()):
            # As in pairs(), a pair has the same colour in both plots where each has one.
            own = int(pair) - 1 if trial.plan.topology.pairs <= len(SERIES) else place
            time_s = _column(rows, "time_ns") / SECOND_NS
            window = _column(rows, "cwnd_segments")
            axes.step(
                *_thinned(time_s, window), where="post", lw=1, color=colour(own),
                label=f"pair {pair}",
            )  # fmt: skip
        axes.set(xlabel="time (s)", ylabel=unit, xlim=(0, None), ylim=(0, None))
        axes.legend(ncols=3)

    largest = ", ".join(
        f"pair {pair} {np.nanmax(_column(rows, 'cwnd_segments')):.0f}"
        for pair, rows in shown.items()
    )
    many = f"{len(shown)} connection{'s' if len(shown) > 1 else ''}"
    alt = f"Congestion windows over time of {many}. Largest: {largest} {unit}."
    return Drawing(kind="windows", title="Congestion windows", alt=alt, paint=paint)


def quic_windows(trial: Trial) -> Rows:
    """The windows that servers with QUIC wrote into their qlog, in packets of full size."""
    full_bytes = trial.plan.topology.mss_bytes + TCP_OVER_UDP_BYTES
    return [
        {**row, "cwnd_segments": float(row["cwnd_bytes"] or 0) / full_bytes}
        for row in trial.series("quic_cwnd") or ()
    ]


def completion(trial: Trial) -> Drawing | None:
    rows = trial.series("requests")
    sent = [row for row in rows or () if row["sent_ns"] is not None]
    if not sent:
        return None
    classes: dict[str, list[float]] = {}
    for row in sent:
        classes.setdefault(level_text(row["class"]), []).append(taken_s(row))

    def paint(axes: Axes) -> None:
        for place, (name, times) in enumerate(sorted(classes.items())):
            done = np.sort([value for value in times if math.isfinite(value)])
            share = np.arange(1, len(done) + 1) / len(times)
            axes.plot(*_thinned(done, share), color=colour(place), lw=1.2, label=f"class {name}")
        axes.set_xscale("log")
        axes.set(xlabel="completion time (s)", ylabel="share of requests sent", ylim=(0, 1))
        axes.legend()

    medians = ", ".join(
        f"class {name} {_median_text(times)}" for name, times in sorted(classes.items())
    )
    alt = (
        "Share of the sent requests that were complete within a time, by file class. A line that "
        f"ends below 1 has requests without a whole answer. Medians: {medians}."
    )
    return Drawing(kind="completion", title="Request completion time", alt=alt, paint=paint)


def _median_text(times: Sequence[float]) -> str:
    middle = float(np.median(times))
    return f"{middle:.2f} s" if math.isfinite(middle) else "not reached"


def shares(trial: Trial) -> Drawing | None:
    rows, shares = trial.series("flows") or (), trial.document.get("expected_bytes") or ()
    known = [(row, share) for row, share in zip(rows, shares, strict=False) if share]
    if not known:
        return None
    received = _column([row for row, _ in known], "received_bytes")
    ratio = received / np.array([share for _, share in known], dtype=float)

    def paint(axes: Axes) -> None:
        axes.stairs(ratio, np.arange(0.5, len(ratio) + 1), fill=True, color=colour(3))
        axes.axhline(1, color=ink(), lw=0.8, ls="--")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
        axes.set(xlabel="client", ylabel="received / fair share", ylim=(0, None))

    alt = (
        "Bytes that each client received, divided by its max-min fair share: the values lie "
        f"between {ratio.min():.2f} (client {ratio.argmin() + 1}) and {ratio.max():.2f} "
        f"(client {ratio.argmax() + 1}), and the median is {np.median(ratio):.2f}."
    )
    return Drawing(kind="shares", title="Received bytes / fair share", alt=alt, paint=paint)


def _rows(trial: Trial, name: str, port: str) -> Rows:
    """The series' rows of one direction, without what was sampled before the trial began."""
    return [
        row
        for row in trial.series(name) or ()
        if row["port"] == port and isinstance(row["time_ns"], float) and row["time_ns"] >= 0
    ]


def _column(rows: Rows, name: str) -> Values:
    """A column as an array, a missing value as nan."""
    return np.array([row[name] if row[name] is not None else np.nan for row in rows], dtype=float)


def _thinned(x: Values, y: Values) -> tuple[Values, Values]:
    """At most `MOST_POINTS` points that look the same: no value between two equal ones.

    Of too many, each stretch keeps its ends, its lowest and its highest, so that peaks stay.
    """
    within = np.zeros(len(x), dtype=bool)
    within[1:-1] = (y[1:-1] == y[:-2]) & (y[1:-1] == y[2:])
    x, y = x[~within], y[~within]
    if len(x) <= MOST_POINTS:
        return x, y
    keep: set[int] = set()
    for part in np.array_split(np.arange(len(x)), MOST_POINTS // 4):
        keep |= {int(at) for at in (part[0], part[-1], part[np.argmin(y[part])])}
        keep.add(int(part[np.argmax(y[part])]))
    chosen = sorted(keep)
    return x[chosen], y[chosen]


def _duration_s(trial: Trial) -> float:
    return float(trial.plan.workload.duration_s)


def _buffer_cells(trial: Trial) -> float | None:
    cells = trial.plan.queue.down.room_cells
    return None if cells is None else float(cells)
