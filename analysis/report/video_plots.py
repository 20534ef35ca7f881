# SPDX-License-Identifier: GPL-2.0-only
"""What video players did (`segments.csv`, `stalls.csv`), beside the other plots of their trial."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes

from analysis.records import Trial
from analysis.report.drawing import Drawing
from analysis.report.svg import SERIES, colour

SECOND_NS = 1e9
Row = Mapping[str, float]
Line = tuple[Sequence[float], Sequence[float]]


def rates(trial: Trial) -> Drawing | None:
    """The bit rate of each segment that came whole, by the time of its request."""
    players = _players(trial)
    if not players:
        return None
    ladder = _ladder_mbit_per_s(trial)
    found = {pair: [ladder[int(row["level"])] for row in rows] for pair, rows in players.items()}

    def paint(axes: Axes) -> None:
        for place, (pair, rows) in enumerate(players.items()):
            times_s = [row["requested_ns"] / SECOND_NS for row in rows]
            axes.step(
                times_s, found[pair], where="post", lw=1, marker=".", ms=3, color=colour(place),
                label=f"player {pair}",
            )  # fmt: skip
        axes.set(xlabel="time (s)", ylabel="Mbit/s", xlim=(0, _end_s(trial)), ylim=(0, None))
        axes.legend(ncols=3)

    told = ", ".join(f"player {pair} {np.mean(one):.2f}" for pair, one in found.items())
    alt = f"Bit rate of each segment of the video over time. Means in Mbit/s: {told}."
    return Drawing(kind="video-rates", title="Bit rate of the video", alt=alt, paint=paint)


def buffers(trial: Trial) -> Drawing | None:
    """The video in each player's buffer over time, and its stalls."""
    players = _players(trial)
    if not players:
        return None
    lines = {pair: _buffer(rows, _segment_s(trial)) for pair, rows in players.items()}
    stalls = {pair: _stalls(trial, pair) for pair in players}

    def paint(axes: Axes) -> None:
        for place, (pair, line) in enumerate(lines.items()):
            axes.plot(*line, lw=1, color=colour(place), label=f"player {pair}")
            for begin_s, end_s in stalls[pair]:
                axes.plot([begin_s, end_s], [0, 0], lw=5, color=colour(place), clip_on=False)
        axes.set(xlabel="time (s)", ylabel="seconds of video", xlim=(0, _end_s(trial)))
        axes.set_ylim(0, None)
        axes.legend(ncols=3)

    told = "; ".join(
        f"player {pair} {len(found)}, {sum(end - begin for begin, end in found):.1f} s"
        for pair, found in stalls.items()
    )
    alt = (
        "Video in the buffer of each player over time. A bar at 0 is a stall. Number and length of"
        f" the stalls: {told}."
    )
    return Drawing(kind="video-buffers", title="Buffer of the players", alt=alt, paint=paint)


def _players(trial: Trial) -> dict[int, list[Row]]:
    """The whole segments of each of the first players; {}: this trial has no video."""
    found: dict[int, list[Row]] = {}
    for row in trial.series("segments") or ():
        known = {name: value for name, value in row.items() if isinstance(value, float)}
        if "last_byte_ns" in known and known["pair"] <= len(SERIES):
            found.setdefault(int(known["pair"]), []).append(known)
    return found


def _buffer(rows: Sequence[Row], segment_s: float) -> Line:
    """The buffer at each request, and before and after each segment became whole."""
    points = [(rows[0]["requested_ns"] / SECOND_NS, 0.0)]
    for row, after in zip(rows, rows[1:], strict=False):
        whole_s, next_s = row["last_byte_ns"] / SECOND_NS, after["requested_ns"] / SECOND_NS
        left_s = after["buffer_ns"] / SECOND_NS
        full_s = left_s + next_s - whole_s
        points += [(whole_s, full_s - segment_s), (whole_s, full_s), (next_s, left_s)]
    return [time_s for time_s, _ in points], [video_s for _, video_s in points]


def _stalls(trial: Trial, pair: int) -> list[tuple[float, float]]:
    """Begin and end of a player's stalls [s]; the last stall may end with the trial."""
    rows = [row for row in trial.series("stalls") or () if row["pair"] == pair]
    found = []
    for row in rows:
        begin_ns, end_ns = row["begin_ns"], row["end_ns"]
        assert isinstance(begin_ns, float)
        end_s = end_ns / SECOND_NS if isinstance(end_ns, float) else _end_s(trial)
        found.append((begin_ns / SECOND_NS, end_s))
    return found


def _ladder_mbit_per_s(trial: Trial) -> list[float]:
    return [rate / 1e6 for rate in trial.plan.workload.ladder_bit_per_s]  # type: ignore[attr-defined]


def _segment_s(trial: Trial) -> float:
    return float(trial.plan.workload.segment_ms) / 1e3  # type: ignore[attr-defined]


def _end_s(trial: Trial) -> float:
    return float(trial.plan.workload.duration_s)
