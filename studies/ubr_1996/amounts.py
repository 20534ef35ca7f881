# SPDX-License-Identifier: GPL-2.0-only
"""How much of it is kept: combinations of levels, seeds, trials, and when the trials ran."""

from analysis import kept_trials
from analysis.kept import Kept
from analysis.report.sentences import Numbers
from studies.ubr_1996.lengths import from_to
from studies.ubr_1996.readme import MAIN, published

DAY = "2026-11-27"
"""When all campaigns ran again."""


def amounts(kept: Kept) -> Numbers:
    """Of the main campaign, and by day the trials of all campaigns."""
    cells = kept.cells(MAIN).rows
    rows = published(kept, MAIN)
    others = [row for row in cells if row not in rows]
    threshold = [row for row in others if row["policy"] == "EPD-n"]
    days = [
        one.ended[: len(DAY)]
        for folder in sorted(kept.folder.iterdir())
        for one in kept_trials.read(folder / kept_trials.FILE)
    ]
    return {
        "combinations": len(cells),
        "rows": len(rows),
        "others": len(others),
        "threshold": len(threshold),
        "sources": len(others) - len(threshold),
        "seeds_range": from_to([int(row["seeds"]) for row in cells]),
        "campaigns": len(sorted(kept.folder.iterdir())),
        "trials": len(days),
        "older": sum(day < DAY for day in days),
        "newer": sum(day > DAY for day in days),
    }
