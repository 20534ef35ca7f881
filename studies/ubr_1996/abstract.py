# SPDX-License-Identifier: GPL-2.0-only
"""The numbers of its README's abstract (sentences.toml), from the kept results."""

import math
from collections.abc import Sequence
from statistics import fmean

from analysis import kept_trials
from analysis.contrasts import p_of
from analysis.families import holm
from analysis.kept import Kept
from analysis.report.sentences import Numbers
from analysis.statistics import CONFIDENCE, estimate
from analysis.table import Row
from studies.ubr_1996 import verdicts
from studies.ubr_1996.lengths import from_to
from studies.ubr_1996.readme import (
    BEYOND,
    CLOCK,
    MAIN,
    OPEN,
    RESPONSES,
    ROW,
    SLOW,
    effect,
    mean,
    published,
)


def abstract(kept: Kept) -> Numbers:
    """Distances from the paper with and without losses, and verdicts."""
    rows = published(kept, MAIN)
    lan, wan = ([row for row in rows if row["network"] == network] for network in ("LAN", "WAN"))
    whole = [row for row in lan if float(row["lost_frames"]) == 0]
    lossy = [row for row in lan if float(row["lost_frames"]) > 0]
    slow, slow_lan = (
        [
            row
            for row in published(kept, SLOW)
            if row["network"] == network and (network == "WAN" or float(row["lost_frames"]) > 0)
        ]
        for network in ("WAN", "LAN")
    )
    start, short = (_open(kept, "WAN", "first-8s"), _open(kept, "LAN", "first-second"))
    groups = {"lan": lossy, "wan": wan, "start": start, "slow": slow, "slow_lan": slow_lan}
    means = {
        f"{response}{of}": mean(lossy, f"{response}{of}")
        for response in RESPONSES
        for of in ("", "_published")
    }
    return {
        **means,
        "rows": len(rows),
        "seeds": min(int(row["seeds"]) for row in rows),
        "seeds_range": from_to([int(row["seeds"]) for row in rows]),
        "whole": len(whole),
        "whole_most": max(map(_distance, whole)),
        "lossy": len(lossy),
        "lan_away": fmean(map(_distance, lossy)),
        **{
            f"{name}_fairness_away": fmean(abs(float(row["fairness_difference"])) for row in some)
            for name, some in groups.items()
        },
        "wan": fmean(map(_distance, wan)),
        "wan_slow": fmean(map(_distance, slow)),
        "wan_start": fmean(map(_distance, start)),
        "lan_slow": fmean(map(_distance, slow_lan)),
        **_whole_start(start),
        **_unfitted(wan, start),
        "start_seeds": min(int(row["seeds"]) for row in start),
        "slow_seeds": min(int(row["seeds"]) for row in slow),
        **_agreeing(wan, lossy),
        **_first_second(kept, short),
        **_minimum_alone(kept),
        **verdicts.numbers(kept),
        **verdicts.named(kept),
    }


def _open(kept: Kept, network: str, assumption: str) -> list[Row]:
    """Cells with one change of what the paper leaves open."""
    levels = (network, assumption)
    return [row for row in kept.cells(OPEN).rows if (row["network"], row["assumption"]) == levels]


def _whole_start(start: Sequence[Row]) -> dict[str, int | str]:
    """WAN over the first 8 s: what slow start leaves to the rows that lose nothing."""
    found = sorted(float(row["efficiency"]) for row in start if float(row["lost_frames"]) == 0)
    ends = dict.fromkeys(f"{one:.3f}" for one in (found[0], found[-1]))
    return {"start_whole": len(found), "start_range": " to ".join(ends)}


def _unfitted(wan: Sequence[Row], start: Sequence[Row]) -> dict[str, float]:
    """WAN: distances of the rows that did not decide the 8 s; those without losses did."""
    rows = {_levels(row) for row in start if float(row["lost_frames"]) > 0}
    before, after = ([row for row in some if _levels(row) in rows] for some in (wan, start))
    return {
        "unfitted": len(rows),
        "unfitted_wan": fmean(map(_distance, before)),
        "unfitted_start": fmean(map(_distance, after)),
    }


def _levels(row: Row) -> tuple[str, ...]:
    return tuple(row[name] for name in ROW)


def _agreeing(wan: Sequence[Row], lossy: Sequence[Row]) -> dict[str, int]:
    """How many rows of the WAN, and of the LAN with losses, print as the paper's."""
    fair = [row for row in wan if _prints_alike(row, "fairness")]
    return {
        "wan_rows": len(wan),
        "wan_whole": sum(float(row["lost_frames"]) == 0 for row in wan),
        "same_fairness": len(fair),
        "same_fairness_lost": sum(float(row["lost_frames"]) > 0 for row in fair),
        "same_efficiency": sum(_prints_alike(row, "efficiency") for row in wan),
        "lossy_same": sum(_prints_alike(row, name) for row in lossy for name in RESPONSES),
    }


def _prints_alike(row: Row, response: str) -> bool:
    return abs(float(row[f"{response}_difference"])) < 0.005


def _minimum_alone(kept: Kept) -> dict[str, float]:
    """LAN from 2 to 12 s: distances with the minimum of the main campaign, and with 1 s."""
    base, minimum = (_open(kept, "LAN", level) for level in ("base", "rto-min-1s"))
    changed = effect(kept, "rto-min-1s")
    return {
        "four_rows": len(minimum),
        "four_seeds": min(int(row["seeds"]) for row in (*base, *minimum)),
        "four_base": fmean(map(_distance, base)),
        "four_minimum": fmean(map(_distance, minimum)),
        "four_change": changed.mean,
        "four_half": changed.half_width or 0.0,
    }


def _first_second(kept: Kept, short: Sequence[Row]) -> dict[str, float]:
    """The LAN's first second: its means, against the same rows later; where a source got nothing.

    short_highest: the upper end of the 95 % interval of the change of the efficiency.
    """
    changed = effect(kept, "first-second")
    trials = [
        one
        for one in kept_trials.read(kept.folder / OPEN / kept_trials.FILE)
        if (one.levels["network"], one.levels["assumption"]) == ("LAN", "first-second")
    ]
    return {
        "short_fairness": mean(short, "fairness"),
        "short_efficiency": mean(short, "efficiency"),
        "short_later": mean(_open(kept, "LAN", "base"), "efficiency"),
        "short_change": changed.mean,
        "short_half": changed.half_width or 0.0,
        "short_highest": changed.mean + (changed.half_width or 0.0),
        "short_rows": len(short),
        "short_seeds": min(int(row["seeds"]) for row in short),
        "short_trials": len(trials),
        "starved": sum(bool(one.metrics.get("starved_sources")) for one in trials),
    }


def limit(kept: Kept) -> Numbers:
    """The rows of CUBIC and BBR that use more of the link than their timestamps leave."""
    rows = [
        row
        for row in kept.cells(BEYOND).rows
        if row["flavor"] in ("CUBIC", "BBR") and row["sources"] == "5"
    ]
    above = [row for row in rows if float(row["efficiency"]) > 0.978]
    most = max(rows, key=lambda row: float(row["efficiency"]))
    place = "{flavor} in the {network} with {policy} and {buffer} cells".format(**most)
    return {
        "rows": len(rows),
        "above": len(above),
        "place": place,
        "efficiency": float(most["efficiency"]),
    }


def clock(kept: Kept) -> Numbers:
    """LAN: what the common clock changes, paired by seed, and both least timeouts."""
    trials = kept_trials.read(kept.folder / CLOCK / kept_trials.FILE)
    found: dict[str, float] = {"trials": len(trials), "seeds": len({one.seed for one in trials})}
    p_values: list[float] = []
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
        p_values.append(p_of(change))
    return found | {"sure": sum(p <= 1 - CONFIDENCE for p in holm(p_values))}


def lan(kept: Kept) -> Numbers:
    """LAN: cells of broken frames [%, rounded up, as it is a limit]; what windows in bytes do."""
    lossy = [row for row in published(kept, MAIN) if row["network"] == "LAN"]
    cells = [row for row in kept.cells(OPEN).rows if row["network"] == "LAN"]
    some = [row for row in cells if row["assumption"] == "bytes"]
    measured = [float(row["efficiency"]) for row in some]
    theirs = [float(row["efficiency_published"]) for row in some]
    return {
        "wasted": math.ceil(1e5 * max(float(row["wasted_share"]) for row in lossy)) / 1e3,
        "bytes_least": min(measured),
        "bytes_most": max(measured),
        "paper_least": min(theirs),
        "paper_most": max(theirs),
    }


def queue(kept: Kept) -> Numbers:
    """The rows without losses: in how many the largest queue is what the path leaves.

    ..._seeds: the same for the seeds of the row whose largest queue is longer.
    """
    rows = kept.table(MAIN, "windows").rows
    longer = [row for row in rows if int(row["difference_cells"])]
    beyond = _beyond(kept, longer[0]) if longer else []
    return {
        "seeds": len(beyond),
        "exact_seeds": beyond.count(0),
        "shorter_seeds": sum(cells < 0 for cells in beyond),
        "rows": len(rows),
        "exact": len(rows) - len(longer),
        "longer": len(longer),
        "window": f"{int(longer[0]['window']):,d}" if longer else "",
        "more": int(longer[0]["difference_cells"]) if longer else 0,
    }


def _beyond(kept: Kept, row: Row) -> list[int]:
    """By how many cells the largest queue of each seed is longer than what the path leaves."""
    return [
        round(one.metrics["peak_cells"]) - int(row["full_queue_cells"])
        for one in kept_trials.read(kept.folder / MAIN / kept_trials.FILE)
        if all(row[name] == level for name, level in one.levels.items())
    ]


def _distance(row: Row) -> float:
    return abs(float(row["efficiency_difference"]))
