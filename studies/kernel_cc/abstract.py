# SPDX-License-Identifier: GPL-2.0-only
"""The numbers of its README's abstract (sentences.toml), from the kept results."""

from collections.abc import Sequence

from analysis.contrasts import p_of
from analysis.families import holm
from analysis.kept import Kept
from analysis.report.sentences import Numbers
from analysis.table import Row
from studies.kernel_cc.changes import CAMPAIGN, RESPONSES, count_same, grouped, mean_change
from studies.kernel_cc.findings import ALPHA, mean_changes, surely_changed, verdict
from studies.kernel_cc.study import STUDY


def abstract(kept: Kept) -> Numbers:
    """Trials that are the same from kernel to kernel, and the largest mean change."""
    first, middle, last = STUDY.cell["kernel"]
    flavors = STUDY.cell["flavor"]
    cells = kept.cells(CAMPAIGN).rows
    seeds = [int(row["seeds"]) for row in cells]
    groups = grouped(kept)
    earlier = [row for flavor in flavors for row in groups[first, middle, flavor]]
    later = {flavor: groups[middle, last, flavor] for flavor in flavors}
    changes = {
        (flavor, old, to): change
        for (old, to, flavor), rows in groups.items()
        if (change := mean_change(rows, "efficiency")) is not None
    }
    flavor, old, to = max(changes, key=lambda place: abs(changes[place].mean))
    largest = changes[flavor, old, to]
    return {
        **{f"{name}_same": count_same(later[name]) for name in flavors},
        **{f"{name}_trials": len(later[name]) for name in flavors},
        "cells": len(cells),
        "trials": sum(seeds),
        "seeds": max(seeds),
        "fewer": sum(one < max(seeds) for one in seeds),
        **{f"{name}_one": count_same(_of_one_flow(later[name])) for name in flavors},
        **{f"{name}_one_trials": len(_of_one_flow(later[name])) for name in flavors},
        "first": first,
        "middle": middle,
        "last": last,
        "earlier_same": count_same(earlier),
        "earlier_trials": len(earlier),
        "largest": largest.mean,
        "largest_half": largest.half_width,
        "largest_flavor": flavor,
        "largest_from": old,
        "largest_to": to,
        **_tested(kept, (old, to, flavor, RESPONSES["efficiency"])),
        **again(kept, (first, middle, "reno", RESPONSES["retransmits"])),
    }


def again(kept: Kept, place: tuple[str, ...]) -> Numbers:
    """A mean change of the segments sent again; again_fewer: 1 if they surely are fewer."""
    changes = mean_changes(kept)
    change = changes.get(place)
    if change is None:
        return {"again": None, "again_half": None, "again_fewer": 0}
    fewer = change.mean < 0 and place in surely_changed(changes)
    return {"again": change.mean, "again_half": change.half_width, "again_fewer": int(fewer)}


def _tested(kept: Kept, place: tuple[str, ...]) -> Numbers:
    """The p of a mean change, alone and by Holm's rule over all mean changes; None with a seed."""
    alone = {one: p_of(change) for one, change in mean_changes(kept).items()}
    adjusted = dict(zip(alone, holm(list(alone.values())), strict=True))
    return {
        "tests": len(alone),
        "largest_raw": alone.get(place),
        "largest_p": adjusted.get(place),
        "largest_verdict": verdict(adjusted.get(place, 1) <= ALPHA),
    }


def _of_one_flow(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row["flows"] == "1"]
