# SPDX-License-Identifier: GPL-2.0-only
"""The numbers of its README's sentences about 1 Gbit/s and above, from the kept results."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from statistics import fmean
from typing import Any

from analysis.kept import Kept, number
from analysis.report.model import signed
from analysis.report.sentences import Number, Numbers
from analysis.table import Row
from studies.kernel_cc.changes import changed
from studies.kernel_cc.days import TRIALS
from studies.kernel_cc.findings import (
    BBR,
    FAST,
    FASTER,
    KERNELS,
    PLACED,
    surely_changed,
    tested,
)

TEN = 10
"""The seeds of a whole cell of the first experiment."""

Changes = Mapping[tuple[str, ...], Sequence[float]]
"""The place of a change, for instance both kernels and the flavor -> its changes, one a seed."""


def fast(kept: Kept) -> Numbers:
    """How large packets and acknowledgements are, and what changes from kernel to kernel."""
    rows, manifest = kept.cells(FAST).rows, kept.manifest(FAST)
    seeds = max(int(row["seeds"]) for row in rows)
    return {
        "trials": manifest["trials"],
        "left_out": manifest["left_out"],
        "seeds": seeds,
        "first": KERNELS[0],
        "unlike": len({row["seeds"] for row in rows if row["kernel"] != KERNELS[0]}) - 1,
        "virtual_s": manifest["virtual_s"] / manifest["trials"],
        "wall_s": manifest["wall_s"] / manifest["trials"],
        "ten": TEN,
        "hours": hours_to_ten(manifest, seeds),
        **_bounds(rows, "segments_per_packet", "packet"),
        **_bounds(rows, "segments_per_ack", "ack"),
        **_changes(kept, rows, seeds),
        "interval": (
            ", with a 95 % interval where there are several seeds"
            if seeds > 1
            else ". Each cell has one seed, so it has no interval"
        ),
    }


def hours_to_ten(manifest: Mapping[str, Any], seeds: int) -> float:
    """How long the missing seeds would take if each trial takes as long as a kept trial [h]."""
    of_a_seed = (manifest["trials"] + manifest["left_out"]) / seeds
    wall_s = manifest["wall_s"] / manifest["trials"]
    return max(0, TEN - seeds) * of_a_seed * wall_s / 3600


def _bounds(rows: Sequence[Row], response: str, name: str) -> dict[str, Number]:
    """The least and the largest mean of a cell."""
    values = [x for row in rows if (x := number(row, response)) is not None]
    return {f"{name}_low": min(values), f"{name}_high": max(values)}


def _changes(kept: Kept, rows: Sequence[Row], seeds: int) -> dict[str, Number]:
    """Each cell against the same cell on the next kernel, paired by seed."""
    groups = {
        response: changed(kept, FAST, ("flavor", "flows"), response) for response, _ in PLACED
    }
    cells = {(row["flavor"], row["flows"]) for row in rows}
    several = [tested(values) for values in groups.values()]
    return {
        "pairs": len({place for values in groups.values() for place in values}),
        "possible": len(cells) * (len(KERNELS) - 1),
        "efficiency": max(abs(fmean(values)) for values in groups["efficiency"].values()),
        "queue_ms": max(abs(fmean(values)) for values in groups["queue_delay_ms"].values()),
        "fairness": largest(groups["fairness"], "+.3f"),
        "again": largest(groups["retransmits"], "+,.0f"),
        "verdict": verdict(
            seeds, sum(map(len, several)), sum(len(surely_changed(one)) for one in several)
        ),
    }


def largest(changes: Changes, form: str) -> str:
    """The largest mean change, and where it is."""
    place = max(changes, key=lambda place: abs(fmean(changes[place])))
    old, new, flavor, flows = place
    count = f"{flows} flow" if flows == "1" else f"{flows} flows"
    return f"{signed(format(fmean(changes[place]), form))} ({flavor} from {old} to {new}, {count})"


def verdict(seeds: int, tests: int, sure: int) -> str:
    """What the seeds say of the changes."""
    if tests == 0:
        of = "one seed" if seeds == 1 else "these seeds"
        return f"With {of}, no change can be tested. Each of these changes may be chance."
    return (
        f"With these seeds, {tests} changes can be tested. By Holm's rule over the changes of the "
        f"same figure, {sure} of them surely differ from 0. A change that we cannot test may be "
        "chance."
    )


def _changes_by_seed(rows: Sequence[Row]) -> Changes:
    """(response, rate, flavor, earlier kernel, later kernel) -> its changes, one a seed."""
    of = {tuple(row[name] for name in ("rate", "flavor", "kernel", "seed")): row for row in rows}
    found: dict[tuple[str, ...], list[float]] = {}
    for (rate, flavor, kernel, seed), row in of.items():
        later = dict(pairwise(KERNELS)).get(kernel)
        if later is None or (other := of.get((rate, flavor, later, seed))) is None:
            continue
        for response, _ in PLACED:
            before, after = number(row, response), number(other, response)
            if before is not None and after is not None:
                place = (response, rate, flavor, kernel, later)
                found.setdefault(place, []).append(after - before)
    return found


def faster(kept: Kept) -> Numbers:
    """What the trials above 1 Gbit/s show, and whether a change from kernel to kernel is sure."""
    rows, manifest = kept.cells(FASTER).rows, kept.manifest(FASTER)
    changes = _changes_by_seed(kept.table(FASTER, TRIALS).rows)
    several, same = tested(changes), sum(not any(values) for values in changes.values())
    paced = [row for row in rows if row["flavor"] == BBR]
    others = [row for row in rows if row["flavor"] != BBR]
    return {
        "trials": manifest["trials"],
        "left_out": manifest["left_out"],
        "fewest": min(int(row["seeds"]) for row in rows),
        "seeds": max(int(row["seeds"]) for row in rows),
        "wall_s": manifest["wall_s"] / manifest["trials"],
        "compared": len(changes),
        "same": same,
        "others": len(several),
        "untested": len(changes) - same - len(several),
        "sure": len(surely_changed(several)),
        **_bounds(rows, "efficiency", "efficiency"),
        **_bounds(rows, "queue_delay_ms", "queue"),
        **_bounds(paced, "segments_per_packet", "paced"),
        **_bounds(others, "segments_per_packet", "unpaced"),
        **_bounds(rows, "segments_per_ack", "ack"),
    }
