# SPDX-License-Identifier: GPL-2.0-only
"""Time-sequence diagrams of exact losses: the figure of every textbook, from the kernel."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot as plt
from matplotlib.axes import Axes

from harness.flavors.check import LINK, PLOTTED, Case

COLUMNS = 2
PANEL_INCHES = (5.2, 3.6)
AFTER_S = 0.2  # shown beyond the last repair
MORE = 1.5  # and so much more of the sequence


def plot(cases: Sequence[Case], path: Path) -> None:
    """Draw one panel a flavor, the three-loss scenario or the only one, to a file that
    matplotlib knows.

    Raises:
        ValueError: no case of that scenario among those given, or an unknown file type.
    """
    scenarios = {c.scenario for c in cases}
    shown = scenarios.pop() if len(scenarios) == 1 else PLOTTED
    chosen = [c for c in cases if c.scenario == shown]
    if not chosen:
        raise ValueError(f"no case of {PLOTTED.name} to draw")
    rows = -(-len(chosen) // COLUMNS)
    size = (PANEL_INCHES[0] * COLUMNS, PANEL_INCHES[1] * rows)
    figure, grid = plt.subplots(rows, COLUMNS, figsize=size, squeeze=False)
    panels = [axes for row in grid for axes in row]
    for axes, case in zip(panels, chosen, strict=False):
        _panel(axes, case)
    for axes in panels[len(chosen) :]:
        axes.set_visible(False)
    end_s = max(_repaired_s(case) for case in chosen) + AFTER_S
    segments = [s.segment for c in chosen for s in c.outcome.sent if s.time_s <= _repaired_s(c)]
    for axes in panels:
        axes.set_xlim(0, end_s)
        axes.set_ylim(-1, MORE * max(segments))
    panels[0].legend(loc="upper left", fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=150)
    plt.close(figure)


def _repaired_s(case: Case) -> float:
    return max((s.time_s for s in case.outcome.sent if s.sending), default=1.0)


def _panel(axes: Axes, case: Case) -> None:
    outcome = case.outcome
    first = [s for s in outcome.sent if not s.sending and not s.dropped]
    again = [s for s in outcome.sent if s.sending]
    lost = [s for s in outcome.sent if s.dropped]
    payload = outcome.sent[0].length
    acks = [(a.time_s + LINK.delay_ns / 1e9, a.acked_bytes / payload) for a in outcome.acks]
    axes.plot(*zip(*acks, strict=True), "-", color="0.6", lw=0.8, drawstyle="steps-post")
    axes.plot(*zip(*acks, strict=True), ".", color="0.6", ms=2, label="ACK (next expected)")
    axes.plot([s.time_s for s in first], [s.segment for s in first], "k.", ms=3, label="data")
    axes.plot(
        [s.time_s for s in again], [s.segment for s in again],
        "s", color="tab:blue", ms=5, mfc="none", label="sent again",
    )  # fmt: skip
    axes.plot([s.time_s for s in lost], [s.segment for s in lost], "rx", ms=7, label="lost")
    axes.set_title(f"{case.flavor.name}: {case.verdict.found}", fontsize=10)
    axes.set_xlabel("time (s)")
    axes.set_ylabel("segment")
