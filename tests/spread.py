# SPDX-License-Identifier: GPL-2.0-only
"""What the gallery says of flows over several equal paths (tests/gallery.py)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from analysis.metrics import rates_bit_per_s
from analysis.records import Trial
from topology.shapes.leaf_spine import LeafSpine


def figures(trials: Sequence[Trial]) -> str:
    """The paths in use and the rates of the clients, level by level, as ranges over the seeds."""
    levels: dict[str, list[Trial]] = {}
    for trial in trials:
        levels.setdefault(" ".join(trial.factors.values()), []).append(trial)
    told = " ".join(sentence(level, found) for level, found in levels.items())
    return (
        f"{told} The ranges are over seeds {trials[0].seed} to {trials[-1].seed}. All checks of"
        f" each trial passed. The pictures show seed {trials[0].seed}."
    )


def sentence(level: str, trials: Sequence[Trial]) -> str:
    """What one way to spread the flows gives."""
    layout = trials[0].plan.topology.layout()
    assert isinstance(layout, LeafSpine)
    on_path = Counter(layout.spine_of_pair)
    idle = len({spine for _, spine in layout.up}) - len(on_path)
    rates = [
        [rate / 1e6 for rate in rates_bit_per_s(source.delivered_bytes, source.measured_s)]
        for source in (one.facts.source for one in trials)
    ]
    every = [rate for of_trial in rates for rate in of_trial]
    sums = [sum(of_trial) for of_trial in rates]
    unused = "No path is" if not idle else "1 path is" if idle == 1 else f"{idle} paths are"
    return (
        f"With `{level}`: {unused} idle, and a path carries at most"
        f" {counted(max(on_path.values()), 'flow')}. A client received {over(every)} Mbit/s, and"
        f" all clients together {over(sums)} Mbit/s."
    )


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"


def over(values: Sequence[float]) -> str:
    """A range, or one value."""
    low, high = (f"{one(values):.2f}" for one in (min, max))
    return low if low == high else f"{low} to {high}"
