# SPDX-License-Identifier: GPL-2.0-only
"""When the counters of a flow were read at the end of a patched trial, from its kept figures.

A kept line has the efficiency since the start, but not the time of the reading. The bytes that came
until then are a whole number, and this tells which of the possible times is the right one.
"""

from analysis import kept_trials
from analysis.kept import Kept
from analysis.report.sentences import Numbers
from studies.kernel_cc.parting import FIXED_RATIO, NEW_LINE
from studies.kernel_cc.window import WINDOW

END_S = 20
LATEST_MS = 10
OFF_BYTES = 0.001
"""How far from a whole number the bytes may be: the figures have all digits of a double."""


def fitting_ms(efficiency: float, capacity_bit_per_s: float) -> set[int]:
    """By how many ms the reading may be late: those with which the bytes are a whole number."""
    rate = efficiency * capacity_bit_per_s / 8
    times = {late: rate * (END_S + late / 1000) for late in range(LATEST_MS + 1)}
    return {late for late, x in times.items() if abs(x - round(x)) < OFF_BYTES}


def reading(kept: Kept) -> Numbers:
    """Of the trials with one flow: how late both patched kernels read; -1 where they differ."""
    trials = [
        trial
        for trial in kept_trials.read(kept.folder / WINDOW / kept_trials.FILE)
        if trial.levels["flows"] == "1"
    ]
    fits = {
        kernel: [
            fitting_ms(trial.metrics["efficiency_from_start"], trial.metrics["capacity_bit_per_s"])
            for trial in trials
            if trial.levels["kernel"] == kernel
        ]
        for kernel in (NEW_LINE, FIXED_RATIO)
    }
    late = {kernel: min(set.intersection(*some), default=-1) for kernel, some in fits.items()}
    return {
        "pairs": min(map(len, fits.values())),
        "old_late_ms": late[NEW_LINE],
        "new_late_ms": late[FIXED_RATIO],
    }
