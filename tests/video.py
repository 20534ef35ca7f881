# SPDX-License-Identifier: GPL-2.0-only
"""What the gallery says of video players (tests/gallery.py)."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.records import Trial
from analysis.statistics import estimate

# Metric of a trial -> its column.
COLUMNS = {
    "video_mbit_per_s": "bit rate (Mbit/s)",
    "stalls": "stalls of both players",
    "stall_s": "stalls of a player (s)",
    "switches": "switches of a player",
    "start_up_s": "start (s)",
}
Values = dict[str, dict[int, list[float]]]  # level -> seed -> its metrics


def figures(trials: Sequence[Trial]) -> str:
    """A table of the levels and of their differences from the first level, over the seeds."""
    found: Values = {}
    for trial in trials:
        level = " ".join(trial.factors.values())
        found.setdefault(level, {})[trial.seed] = [value(trial, name) for name in COLUMNS]
    first, *others = found
    rows = [row(f"`{level}`", list(of.values())) for level, of in found.items()]
    rows += [row(f"`{level}` less `{first}`", differences(found, level, first)) for level in others]
    head = f"| sender | {' | '.join(COLUMNS.values())} |\n| --- |{' --- |' * len(COLUMNS)}\n"
    seeds = list(found[first])
    ladder = [rate / 1e6 for rate in trials[0].plan.workload.ladder_bit_per_s]  # type: ignore[attr-defined]
    [checks] = {len(trial.checks) for trial in trials}
    return (
        f"{head}{''.join(rows)}\n"
        f"The table has means over seeds {seeds[0]} to {seeds[-1]}. The number after ± is half of a"
        " 95 % interval. A trial has two players. The bit rates of the video are"
        f" {ladder[0]:.2f} to {ladder[-1]:.2f} Mbit/s. All {checks} checks of each trial passed."
        f" The pictures show seed {seeds[0]}."
    )


def value(trial: Trial, name: str) -> float:
    found = trial.metrics[name]
    assert found is not None, (trial.name, name)
    return found


def differences(found: Values, level: str, first: str) -> list[list[float]]:
    """For each seed, the metrics of a level less those of the first level."""
    return [
        [one - other for one, other in zip(values, found[first][seed], strict=True)]
        for seed, values in found[level].items()
    ]


def row(name: str, values: Sequence[Sequence[float]]) -> str:
    """A line of the table: mean and interval of each metric over the seeds."""
    cells = []
    for column in zip(*values, strict=True):
        found = estimate(column)
        assert found.half_width is not None
        cells.append(f"{found.mean:.2f} ± {found.half_width:.2f}")
    return f"| {name} | {' | '.join(cells)} |\n"
