# SPDX-License-Identifier: GPL-2.0-only
"""The numbers of its README's abstract (sentences.toml), from the kept results."""

from collections import Counter
from statistics import fmean

from analysis import kept_trials
from analysis.kept import Kept
from analysis.report.sentences import Numbers
from analysis.statistics import estimate
from analysis.table import Row
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
    verdicts = Counter(row["verdict_seeds"] for row in kept.claims(MAIN).rows)
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
        "wan": fmean(map(_distance, wan)),
        "wan_slow": fmean(map(_distance, slow)),
        "short_fairness": mean(short, "fairness"),
        "short_efficiency": mean(short, "efficiency"),
        "claims": verdicts.total(),
        "holds": verdicts["holds"],
        "fails": verdicts["does not hold"],
        "undecided": verdicts["undecided"],
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


def _distance(row: Row) -> float:
    return abs(float(row["efficiency_difference"]))
