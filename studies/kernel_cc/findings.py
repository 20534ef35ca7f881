# SPDX-License-Identifier: GPL-2.0-only
"""The numbers of its README's findings (sentences.toml), from the kept results."""

from collections.abc import Mapping, Sequence

from scipy import stats

from analysis.contrasts import p_of
from analysis.families import holm
from analysis.kept import Kept, number
from analysis.report.model import Sheet, Value, plain, signed
from analysis.report.sentences import Number, Numbers
from analysis.statistics import Estimate, estimate
from studies.kernel_cc.changes import (
    CAMPAIGN,
    PATH,
    RESPONSES,
    grouped,
    mean_change,
)
from studies.kernel_cc.mixed import MIXED
from studies.kernel_cc.study import STUDY
from studies.kernel_cc.window import WINDOW

SHARED, LOSSES, FAST = "kernel-shared", "kernel-losses", "kernel-fast"
FASTER, CAUSE = "kernel-faster", "kernel-cause"
ALPHA = 0.05
BBR = "bbr"
KERNELS = STUDY.cell["kernel"]
SMALL_MS = 2
PLACED = tuple(RESPONSES.items())
"""The responses that are tested place by place, and their titles: a family of tests each."""


def trials_run(kept: Kept) -> Numbers:
    """How many trials are kept and left out, and how long they took."""
    names = (CAMPAIGN, SHARED, LOSSES, FAST)
    manifests = [kept.manifest(name) for name in names]
    campaigns = [*manifests, *(kept.manifest(name) for name in (FASTER, MIXED, WINDOW, CAUSE))]
    first = STUDY.cell["kernel"][0]
    later = [
        len(one["seeds"]) - int(row["seeds"])
        for name, one in zip(names, manifests, strict=True)
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
    changes = mean_changes(kept)
    found = surely_changed(changes)
    names = [
        f' From {old} to {new}, the column "{title}" of {flavor} changed by'
        f" {in_digits(changes[old, new, flavor, title])}."
        for old, new, flavor, title in found
    ]
    return {
        "changes": len(changes),
        "times": times_for_sure(len(changes), next(iter(changes.values()), None)),
        "sure": len(found),
        "which": "".join(names),
        "seeds": max((change.n for change in changes.values()), default=1),
    }


def mean_changes(kept: Kept) -> dict[tuple[str, ...], Estimate]:
    """Of a pair of kernels, a flavor and a response (its title): a change with its interval."""
    return {
        (old, new, flavor, title): change
        for (old, new, flavor), rows in grouped(kept).items()
        for response, title in RESPONSES.items()
        if (change := mean_change(rows, response)) is not None and change.n > 1
    }


def of_places(kept: Kept) -> dict[str, Number]:
    """Of each response, how many places are tested, and how many of them surely changed."""
    several = {response: tested(by_place(kept, response)) for response, _ in PLACED}
    return {
        **{f"{response}_places": len(some) for response, some in several.items()},
        **{f"{response}_sure": len(surely_changed(some)) for response, some in several.items()},
    }


def bbr_again(kept: Kept) -> Numbers:
    """What bbr sends again on the last kernel less the one before, a trial: mean over the paths."""
    old, new = KERNELS[-2:]
    changes = mean_changes(kept)
    place = (old, new, BBR, RESPONSES["retransmits"])
    change = changes.get(place)
    return {
        "old": old,
        "new": new,
        "mean": None if change is None else change.mean,
        "half": None if change is None else change.half_width,
        "seeds": 1 if change is None else change.n,
        "changes": len(changes),
        "verdict": verdict(place in surely_changed(changes)),
    }


def verdict(sure: bool) -> str:
    """What a sentence says of a change."""
    return "it is sure" if sure else "it is not sure"


def times_for_sure(tests: int, change: Estimate | None) -> float:
    """The first change that Holm's rule calls sure is at least so many of its half intervals."""
    freedom = max(1, change.n - 1 if change is not None else 1)
    needed, interval = stats.t.ppf([1 - ALPHA / (2 * max(1, tests)), 1 - ALPHA / 2], freedom)
    return float(needed / interval)


def by_place(kept: Kept, response: str) -> dict[tuple[str, ...], list[float]]:
    """The changes of each path, flavor and pair of kernels: a value a seed."""
    cells: dict[tuple[str, ...], list[float]] = {}
    for key, rows in grouped(kept).items():
        for row in rows:
            if (x := number(row, response)) is not None:
                place = (*key, *(row[name] for name in PATH))
                cells.setdefault(place, []).append(x)
    return cells


def tested(cells: Mapping[tuple[str, ...], Sequence[float]]) -> dict[tuple[str, ...], Estimate]:
    """Places whose seeds differ: the others have one observation, and no test."""
    return {place: estimate(values) for place, values in cells.items() if len({*values}) > 1}


def constant(cells: Mapping[tuple[str, ...], Sequence[float]]) -> dict[tuple[str, ...], float]:
    """Places whose seeds, two or more, all have the same change, with this change."""
    return {
        place: values[0]
        for place, values in cells.items()
        if len(values) > 1 and len({*values}) == 1
    }


def constant_again(kept: Kept) -> Numbers:
    """Of the segments sent again: the places that have no test, and which of them changed."""
    cells = by_place(kept, "retransmits")
    same = constant(cells)
    others = {place: change for place, change in same.items() if change != 0}
    names = [f" It is {signed(f'{x:+.3g}')} ({named(place)})." for place, x in others.items()]
    return {
        "without": len(same),
        "unchanged": len(same) - len(others),
        "others": len(others),
        "which": "".join(names),
    }


def places_by(kept: Kept, response: str) -> dict[str, Number]:
    """Of the places that have a test, how many surely changed, and by how much."""
    several = tested(by_place(kept, response))
    sure = surely_changed(several)
    sizes = sorted(abs(change.mean) for change in sure.values())
    return {
        "places": len(several),
        "places_sure": len(sure),
        "places_later": sum(place[0] != STUDY.cell["kernel"][0] for place in sure),
        "places_of_one_flow": sum(place[-1] == "1" for place in sure),
        "places_below": sum(size < SMALL_MS for size in sizes),
        "small": SMALL_MS,
        "middle": STUDY.cell["kernel"][1],
    }


def surely_changed(
    several: Mapping[tuple[str, ...], Estimate],
) -> dict[tuple[str, ...], Estimate]:
    """The changes that are surely not 0, by Holm's rule over all of them."""
    adjusted = holm([p_of(change) for change in several.values()])
    return {
        place: change
        for (place, change), p in zip(several.items(), adjusted, strict=True)
        if p <= ALPHA
    }


def places(kept: Kept) -> Sheet:
    """Each place that surely changed, with its change; a response has a family of its own.

    Where each seed has the same change there is no test, and the line says so.
    """
    rows: list[list[Value]] = []
    for response, title in PLACED:
        cells = by_place(kept, response)
        shown = {place: in_digits(x) for place, x in surely_changed(tested(cells)).items()}
        shown |= {
            place: f"{signed(f'{x:+.3g}')} (all {len(cells[place])} seeds)"
            for place, x in constant(cells).items()
            if x != 0
        }
        rows += [[*_of_place(place), title, text] for place, text in shown.items()]
    return plain(rows, "from", "to", "flavor", "path", "queue", "flows", "figure", "change")


def _of_place(place: Sequence[str]) -> list[Value]:
    old, new, flavor, rate, rtt, queue, flows = place
    return [old, new, flavor, f"{rate} Mbit/s, {rtt} ms", queue, flows]


def in_digits(change: Estimate) -> str:
    """Three digits of it: a change that is surely not 0 is not shown as 0."""
    return f"{signed(f'{change.mean:+.3g}')} ± {change.half_width:.2g}"


def largest_of(changes: Mapping[tuple[str, ...], Estimate]) -> tuple[str, ...]:
    """The place with the largest mean change; an empty place without changes."""
    return max(changes, key=lambda place: abs(changes[place].mean), default=())


def named(place: Sequence[str]) -> str:
    """A path, flavor and pair of kernels, in words."""
    old, new, flavor, rate, rtt, queue, flows = place
    flows += " flow" if flows == "1" else " flows"
    return f"{flavor} from {old} to {new}, {rate} Mbit/s, {rtt} ms, {queue}, {flows}"


def cells_that_moved(kept: Kept) -> Numbers:
    """How many places surely changed, by response, and the largest change of the efficiency."""
    cells = by_place(kept, "efficiency")
    several = tested(cells)
    without = [values for place, values in cells.items() if place not in several]
    sure = surely_changed(several)
    largest = largest_of(several)
    return {
        "without": len(without),
        "unchanged": sum(set(values) == {0.0} for values in without),
        **places_by(kept, "queue_delay_ms"),
        **of_places(kept),
        "cells": len(several),
        "sure": len(sure),
        "largest": several[largest].mean,
        "half": several[largest].half_width,
        "verdict": verdict(largest in sure),
        "place": named(largest),
    }


def delays(kept: Kept) -> Numbers:
    """The largest mean change of the queue's delay in a place, and the largest that is sure."""
    several = tested(by_place(kept, "queue_delay_ms"))
    sure = surely_changed(several)
    largest = largest_of(several)
    return {
        "largest": f"{in_digits(several[largest])} ms ({named(largest)})",
        "is_sure": int(largest in sure),
        "largest_sure": (
            f"{in_digits(sure[place])} ms ({named(place)})"
            if (place := largest_of(sure))
            else "none"
        ),
    }
