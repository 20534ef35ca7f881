# SPDX-License-Identifier: GPL-2.0-only
"""The numbers of its README's abstract (sentences.toml), from the kept results."""

from statistics import fmean

from analysis import kept_trials
from analysis.kept import Kept
from analysis.report.sentences import Numbers
from analysis.statistics import estimate
from analysis.table import Row
from studies.ubr_1996 import verdicts
from studies.ubr_1996.readme import CLOCK, MAIN, OPEN, RESPONSES, SLOW, mean, published


def abstract(kept: Kept) -> Numbers:
    """Distances from the paper with and without losses, and verdicts."""
    rows = published(kept, MAIN)
    lan, wan = ([row for row in rows if row["network"] == network] for network in ("LAN", "WAN"))
    whole = [row for row in lan if float(row["lost_frames"]) == 0]
    lossy = [row for row in lan if float(row["lost_frames"]) > 0]
    slow = [row for row in published(kept, SLOW) if row["network"] == "WAN"]
    short = [
        row
        for row in kept.cells(OPEN).rows
        if (row["network"], row["assumption"]) == ("LAN", "first-second")
    ]
    means = {
        f"{response}{of}": mean(lossy, f"{response}{of}")
        for response in RESPONSES
        for of in ("", "_published")
    }
    return {
        **means,
        "rows": len(rows),
        "seeds": min(int(row["seeds"]) for row in rows),
        "whole": len(whole),
        "whole_most": max(map(_distance, whole)),
        "lossy": len(lossy),
        "lan_away": fmean(map(_distance, lossy)),
        **{
            f"{name}_fairness_away": fmean(abs(float(row["fairness_difference"])) for row in some)
            for name, some in (("lan", lossy), ("wan", wan))
        },
        "wan": fmean(map(_distance, wan)),
        "wan_slow": fmean(map(_distance, slow)),
        "short_fairness": mean(short, "fairness"),
        "short_efficiency": mean(short, "efficiency"),
        **verdicts.numbers(kept),
    }


def clock(kept: Kept) -> Numbers:
    """LAN: what the common clock changes, paired by seed, and both least timeouts."""
    trials = kept_trials.read(kept.folder / CLOCK / kept_trials.FILE)
    found: dict[str, float] = {"trials": len(trials), "seeds": len({one.seed for one in trials})}
    for name, minimum in (("ticks", "2 ticks"), ("second", "1 s")):
        by_clock: dict[str, dict[int, float]] = {}
        for one in trials:
            if one.levels["minimum"] == minimum:
                of_clock = by_clock.setdefault(one.levels["clock"], {})
                of_clock[one.seed] = one.metrics["efficiency"]
        own, common = by_clock["own"], by_clock["common"]
        change = estimate([common[seed] - own[seed] for seed in own])
        found[f"{name}_change"] = change.mean
        found[f"{name}_half"] = change.half_width or 0.0
    return found


def lan(kept: Kept) -> Numbers:
    """LAN: cells of broken frames, and what windows in bytes do."""
    lossy = [row for row in published(kept, MAIN) if row["network"] == "LAN"]
    cells = [row for row in kept.cells(OPEN).rows if row["network"] == "LAN"]
    some = [row for row in cells if row["assumption"] == "bytes"]
    measured = [float(row["efficiency"]) for row in some]
    theirs = [float(row["efficiency_published"]) for row in some]
    return {
        "wasted": max(float(row["wasted_share"]) for row in lossy),
        "bytes_least": min(measured),
        "bytes_most": max(measured),
        "paper_least": min(theirs),
        "paper_most": max(theirs),
    }


def queue(kept: Kept) -> Numbers:
    """The rows without losses: in how many the largest queue is what the path leaves."""
    rows = kept.table(MAIN, "windows").rows
    longer = [row for row in rows if int(row["difference_cells"])]
    return {
        "rows": len(rows),
        "exact": len(rows) - len(longer),
        "longer": len(longer),
        "window": f"{int(longer[0]['window']):,d}" if longer else "",
        "more": int(longer[0]["difference_cells"]) if longer else 0,
    }


def _distance(row: Row) -> float:
    return abs(float(row["efficiency_difference"]))
