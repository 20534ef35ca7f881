# SPDX-License-Identifier: GPL-2.0-only
"""The place in which 6.1 and 6.12 were compared segment by segment (sentences.toml)."""

from analysis import kept_trials
from analysis.kept import Kept
from analysis.report.sentences import Numbers
from analysis.statistics import estimate
from studies.kernel_cc.changes import CAMPAIGN
from studies.kernel_cc.findings import by_place, in_digits, largest_of, tested
from studies.kernel_cc.window import NEW, OLD, QUEUE, WINDOW

FLAVOR, PLACE = "reno", ("20", "160", "drop-tail-4", "1")
"""The flavor; the levels of changes.PATH."""
SEED = 1
NEW_LINE, FIXED_RATIO = f"{OLD} patch first-window.patch", f"{NEW} patch fixed-ratio.patch"


def parting(kept: Kept) -> Numbers:
    """The change of the queue's delay there, and what is left of it with one patch and with both.

    line: of 6.1 by its new first window; both: 6.12 less 6.1; patched: 6.12 with the ratio of 6.1
    less 6.12; all of one seed [ms].
    """
    every = by_place(kept, QUEUE)
    values = every[OLD, NEW, FLAVOR, *PLACE]
    several = tested(every)
    old, new = (_delay(kept, CAMPAIGN, kernel) for kernel in (OLD, NEW))
    with_line, with_ratio = (_delay(kept, WINDOW, kernel) for kernel in (NEW_LINE, FIXED_RATIO))
    change = estimate(values)
    return {
        "old": OLD,
        "new": NEW,
        "seed": SEED,
        "seeds": change.n,
        "change": f"{in_digits(change)} ms",
        "change_ms": change.mean,
        "largest_ms": several[largest_of(several)].mean,
        "line": with_line - old,
        "line_part": abs((with_line - old) / (new - old)),
        "both": new - old,
        "patched": with_ratio - new,
        "unlike_ms": with_ratio - with_line,
    }


def _delay(kept: Kept, campaign: str, kernel: str) -> float:
    """The mean delay of the queue there, with one seed [ms]."""
    rate, rtt, queue, flows = PLACE
    levels = {"rate": rate, "rtt": rtt, "queue": queue, "flows": flows}
    of = kept_trials.by_seed(kept.folder / campaign, QUEUE, kernel=kernel, flavor=FLAVOR, **levels)
    return of[SEED]
