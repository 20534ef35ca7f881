# SPDX-License-Identifier: GPL-2.0-only
"""Paths that a workload does not meet as the experiment means it. Pure.

silent_paths  paths that carry nothing before the workload ends
late_paths    paths that are to move and do not: the first change comes after the workload's end
uneven_paths  paths that two workloads of an experiment meet at different moments
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path

from harness.design.distinct import PlannedCell
from harness.design.experiment import Design
from plan.path import US_PER_S, Way, first_passing_us
from plan.path import Path as MovingPath
from plan.plan import WORKLOADS

# A workload that starts later than time 0 of the path, and surely before this time.
START_S = {"www": 60}


def silent_paths(design: Design, trials: Iterable[PlannedCell], origin: Path) -> list[str]:
    """A sentence with a line for each direction of a path that carries nothing in a trial.

    trials: of one seed; they may have more factors than the design.
    """
    found: dict[str, None] = {}
    for one, path in moving(trials):
        end_s = end_of(one)
        silent = [
            f"the direction to the {ends} carries no packet before {at / US_PER_S:.10g} s"
            for ends, way in (("clients", path.down), ("servers", path.up))
            if (at := first_passing_us(way)) >= end_s * US_PER_S
        ]
        if silent:
            said = (
                f"topology.path: {', and '.join(silent)}, and workload.duration_s is"
                f" {one.plan.workload.duration_s:.10g}; so no connection can be made while the"
                " workload sends, and the trial may fail"
            )
            found[told(design, one, origin, said)] = None
    return list(found)


def late_paths(design: Design, trials: Iterable[PlannedCell], origin: Path) -> list[str]:
    """A sentence with a line for each path that does not change in a trial before its end.

    trials: of one seed; they may have more factors than the design.
    """
    found: dict[str, None] = {}
    for one, path in moving(trials):
        if max(map(first_passing_us, (path.down, path.up))) >= end_of(one) * US_PER_S:
            continue  # silent_paths() tells it
        changes = [at for way in (path.down, path.up) if (at := first_change_us(way)) is not None]
        if changes and min(changes) >= end_of(one) * US_PER_S:
            said = (
                f"topology.path: its first change is at {min(changes) / US_PER_S:.10g} s, and"
                f" workload.duration_s is {one.plan.workload.duration_s:.10g}; so the path does"
                " not change while the workload sends"
            )
            found[told(design, one, origin, said)] = None
    return list(found)


def moving(trials: Iterable[PlannedCell]) -> Iterator[tuple[PlannedCell, MovingPath]]:
    """The trials with a moving path, each with its path."""
    for one in trials:
        if one.plan.topology.path is not None:
            yield one, one.plan.topology.path


def end_of(one: PlannedCell) -> float:
    """The time of the path at which the workload has surely ended [s]."""
    slack_s = START_S.get(str(WORKLOADS.name_of(one.plan.workload)), 0)
    return one.plan.workload.duration_s + slack_s


def told(design: Design, one: PlannedCell, origin: Path, said: str) -> str:
    """The sentence behind the file and the line that set the path."""
    cell = {name: x for name, x in one.factors.items() if name in design.factors}
    return str(design.sources.refusal_of_setting(origin, said, cell, ""))


def first_change_us(way: Way) -> int | None:
    """The time of the first row that differs from the row before it; None: no row does."""
    rows = pairwise(way.rows())
    return next((b.time_us for a, b in rows if a._replace(time_us=b.time_us) != b), None)


def uneven_paths(design: Design, trials: Iterable[PlannedCell], origin: Path) -> list[str]:
    """A sentence with a line if workloads meet moving paths at different moments.

    trials: of one seed; they may have more factors than the design.
    """
    kinds = {(str(WORKLOADS.name_of(one.plan.workload)), path): one for one, path in moving(trials)}
    late = {(k, path) for k, path in kinds if WORKLOADS[k].Source.begins_itself}
    for kind, path in sorted(late, key=lambda pair: pair[0]):
        others = sorted({k for k, same in kinds.keys() - late if same == path})
        if not others:
            continue
        said = (
            f"workload.kind: {kind} begins later than time 0 of the moving path, and"
            f" {' and '.join(others)} at time 0; so the same change meets them at different"
            ' moments (docs/moving-paths.md, "Two workloads on one path")'
        )
        return [told(design, kinds[kind, path], origin, said)]
    return []
