# SPDX-License-Identifier: GPL-2.0-only
"""Whether the first slow start threshold decides the delay of reno's queue: its README's test.

With the kernels as they are, a threshold of one segment less goes with the larger delay. The
patched kernels of kernel-window.toml ran in the same place, so they can refute this.
"""

from analysis import kept_trials
from analysis.kept import Kept
from analysis.report.model import Sheet, Value, plain
from analysis.report.sentences import Numbers
from studies.kernel_cc.changes import PATH
from studies.kernel_cc.mixed import CONTROL, MIXED, NEW, OLD, RESPONSES
from studies.kernel_cc.parting import FIXED_RATIO, FLAVOR, NEW_LINE, PLACE, SEED
from studies.kernel_cc.window import QUEUE, WINDOW

THRESHOLD, SECOND = "first_threshold_segments", "second_reduction_s"
ROWS = {
    NEW: (MIXED, {"ends": CONTROL}),
    OLD: (MIXED, {"ends": f"{OLD} to {OLD}"}),
    NEW_LINE: (WINDOW, {"kernel": NEW_LINE}),
    FIXED_RATIO: (WINDOW, {"kernel": FIXED_RATIO}),
}
"""The kernel of both ends -> the campaign, and the level that tells its trial apart."""


def figure(kept: Kept, kernel: str, response: str) -> float | None:
    """A response of the one trial of this kernel; None where it has no value."""
    campaign, levels = ROWS[kernel]
    place = dict(zip(PATH, PLACE, strict=True)) | {"flavor": FLAVOR} | levels
    return kept_trials.by_seed(kept.folder / campaign, response, **place).get(SEED)


def table(kept: Kept) -> Sheet:
    """By kernel of both ends: the same responses as in the table of the pairs of ends."""
    rows: list[list[Value]] = [
        [kernel, *(figure(kept, kernel, name) for name, *_ in RESPONSES)] for kernel in ROWS
    ]
    return plain(rows, "kernel of both ends", *((title, form) for _, title, form in RESPONSES))


def threshold(kept: Kept) -> Numbers:
    """What the kernels have in common whose first threshold is that of the later one."""
    named = {"new": NEW, "old": OLD, "line": NEW_LINE, "ratio": FIXED_RATIO}
    found = {
        f"{name}_{what}": figure(kept, kernel, response)
        for name, kernel in named.items()
        for what, response in (("segments", THRESHOLD), ("second", SECOND), ("delay", QUEUE))
    }
    return {"new": NEW, "old": OLD, "seed": SEED, **found}
