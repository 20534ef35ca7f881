# SPDX-License-Identifier: GPL-2.0-only
"""Where bbr changed most surely from 6.1 to 6.12: what each change of the source adds.

kernel-cause.toml runs four kernels. Each step from one to the next is a change of the source, and
the step in the middle is everything else that differs. A step is paired by seed.
"""

from collections.abc import Mapping

from analysis import kept_trials
from analysis.kept import Kept
from analysis.report.days import all_days
from analysis.report.model import Sheet, Value, plain, signed
from analysis.report.sentences import Numbers
from analysis.statistics import Estimate, estimate
from studies.kernel_cc.changes import RESPONSES
from studies.kernel_cc.days import days_of
from studies.kernel_cc.findings import CAUSE, in_digits
from studies.kernel_cc.parting import FIXED_RATIO, NEW_LINE
from studies.kernel_cc.window import NEW, OLD, QUEUE

STEPS = {
    "whole": (OLD, NEW),
    "line": (OLD, NEW_LINE),
    "ratio": (FIXED_RATIO, NEW),
    "rest": (NEW_LINE, FIXED_RATIO),
}
"""Name -> the kernel before it and the kernel after it."""
SHOWN = ("efficiency", QUEUE)
"""The responses of the table. With one flow, bbr has the same fairness and sends nothing again."""


def steps(kept: Kept, response: str) -> Mapping[str, list[float]]:
    """Each step's changes of a response, a value a seed that ran on all four kernels."""
    kernels = dict.fromkeys(kernel for pair in STEPS.values() for kernel in pair)
    of = {
        kernel: kept_trials.by_seed(kept.folder / CAUSE, response, kernel=kernel)
        for kernel in kernels
    }
    seeds = sorted(set.intersection(*(set(values) for values in of.values())))
    return {
        name: [of[after][seed] - of[before][seed] for seed in seeds]
        for name, (before, after) in STEPS.items()
    }


def table(kept: Kept) -> Sheet:
    """By response: the whole change and its steps."""
    rows: list[list[Value]] = []
    for response in SHOWN:
        found = steps(kept, response)
        changes = [_shown(estimate(values)) for values in found.values()]
        rows.append([RESPONSES[response], len(found["whole"]), *changes])
    heads = (f"{OLD} to {NEW}", "the first window", "the ratio", "everything else")
    return plain(rows, "figure", ("seeds", "d"), *heads)


def cause(kept: Kept) -> Numbers:
    """What both patches leave of the change of the queue [ms], and what part the ratio makes."""
    found = steps(kept, QUEUE)
    return {
        "old": OLD,
        "new": NEW,
        "seeds": len(found["whole"]),
        "trials": kept.manifest(CAUSE)["trials"],
        "left_out": kept.manifest(CAUSE)["left_out"],
        "days": all_days(days_of(kept, CAUSE)),
        "rest": max(abs(x) for x in found["rest"]),
        "part": estimate(found["ratio"]).mean / estimate(found["whole"]).mean,
    }


def _shown(change: Estimate) -> str:
    """A change with half of its interval, if there is one; 0 if it is 0 with each seed."""
    if change.mean == 0 and not change.half_width:
        return "0"
    return signed(f"{change.mean:+.3g}") if change.half_width is None else in_digits(change)
