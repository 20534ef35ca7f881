# SPDX-License-Identifier: GPL-2.0-only
"""The numbers of its README's findings (sentences.toml), from the kept results."""

from collections.abc import Iterable, Sequence

from analysis.contrasts import p_of
from analysis.families import holm
from analysis.kept import Kept, number
from analysis.report.sentences import Numbers
from analysis.statistics import estimate
from analysis.table import Row
from studies.kernel_cc.changes import CAMPAIGN, PATH, RESPONSES, grouped, mean_change
from studies.kernel_cc.study import STUDY

SHARED, LOSSES = "kernel-shared", "kernel-losses"
ALPHA = 0.05
BBR = "bbr"


def trials_run(kept: Kept) -> Numbers:
    """How many trials are kept and left out, and how long they took."""
    names = (CAMPAIGN, SHARED, LOSSES)
    campaigns = [kept.manifest(name) for name in names]
    first = STUDY.cell["kernel"][0]
    later = [
        len(one["seeds"]) - int(row["seeds"])
        for name, one in zip(names, campaigns, strict=True)
        for row in kept.cells(name).rows
        if row["kernel"] != first
    ]
    return {
        "trials": sum(one["trials"] for one in campaigns),
        "left_out": sum(one["left_out"] for one in campaigns),
        "virtual_hours": sum(one["virtual_s"] for one in campaigns) / 3600,
        "wall_minutes": sum(one["wall_s"] for one in campaigns) / 60,
        "first": first,
        "left_out_later": sum(later),
    }


def sure(kept: Kept) -> Numbers:
    """How many mean changes are surely not 0, by Holm's adjusted p over all of them, and which."""
    changes = {
        (old, new, flavor, title): change
        for (old, new, flavor), rows in grouped(kept).items()
        for response, title in RESPONSES.items()
        if (change := mean_change(rows, response)) is not None and change.n > 1
    }
    adjusted = holm([p_of(change) for change in changes.values()])
    found = [place for place, p in zip(changes, adjusted, strict=True) if p <= ALPHA]
    names = [f"{title} of {flavor} from {old} to {new}" for old, new, flavor, title in found]
    return {
        "changes": len(changes),
        "sure": len(found),
        "which": f": {'; '.join(names)}" if names else "",
        "seeds": max((change.n for change in changes.values()), default=1),
    }


def cells_that_moved(kept: Kept) -> Numbers:
    """Of paths, flavors and kernels, how many moved in efficiency by more than their seeds do.

    A cell with the same difference in all seeds has one observation, and is left out.
    """
    cells: dict[tuple[str, ...], list[float]] = {}
    for key, rows in grouped(kept).items():
        for row in rows:
            if (x := number(row, "efficiency")) is not None:
                place = (*key, *(row[name] for name in PATH))
                cells.setdefault(place, []).append(x)
    several = {place: estimate(values) for place, values in cells.items() if len({*values}) > 1}
    adjusted = holm([p_of(change) for change in several.values()])
    largest = max(several, key=lambda place: abs(several[place].mean))
    old, new, flavor, rate, rtt, queue, flows = largest
    return {
        "cells": len(several),
        "sure": sum(p <= ALPHA for p in adjusted),
        "largest": several[largest].mean,
        "size": abs(several[largest].mean),
        "half": several[largest].half_width,
        "place": f"{flavor} from {old} to {new}, {rate} Mbit/s, {rtt} ms, {queue}, {flows} flows",
    }


def beside_bbr(kept: Kept) -> Numbers:
    """The least and the largest part of the link that bbr has beside reno or cubic, by queue."""
    shares: dict[str, list[float]] = {}
    for row in kept.cells(SHARED).rows:
        first, late = row["flavor"].split("+")
        share = number(row, "late_share")
        if share is not None and (first == BBR) != (late == BBR):
            shares.setdefault(row["queue"], []).append(share if late == BBR else 1 - share)
    names = {"drop-tail-1": "one", "drop-tail-4": "four", "fq-codel": "fair"}
    return {
        f"{names[queue]}_{side}": bound
        for queue, some in shares.items()
        for side, bound in (("low", min(some)), ("high", max(some)))
    } | {"kernels": len(STUDY.cell["kernel"])}


def with_losses(kept: Kept) -> Numbers:
    """Efficiency where the path loses one packet in a hundred at random: least and largest."""
    rows = [row for row in kept.cells(LOSSES).rows if row["loss"] == "1 in 100"]
    groups = {
        "bbr": [row for row in rows if row["flavor"] == BBR],
        "short": [row for row in rows if row["flavor"] != BBR and row["rtt"] == "40"],
        "long": [row for row in rows if row["flavor"] != BBR and row["rtt"] == "160"],
    }
    return {
        f"{name}_{side}": bound
        for name, some in groups.items()
        for side, bound in zip(("low", "high"), bounds(efficiencies(some)), strict=True)
    }


def efficiencies(rows: Iterable[Row]) -> list[float]:
    """Of cells that have one."""
    return [x for row in rows if (x := number(row, "efficiency")) is not None]


def bounds(values: Sequence[float]) -> tuple[float, float]:
    """The least and the largest."""
    return min(values), max(values)
