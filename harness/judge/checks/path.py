# SPDX-License-Identifier: GPL-2.0-only
"""A moving path did what its function says, as its packets show (harness/records/moving.py)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from plan.checks import REAL_LATE_LIMIT_NS, Check, CheckResult, check
from plan.facts import TrialFacts
from plan.plan import WORKLOADS, Plan
from plan.queue import DIRECTIONS

LIMIT_NS = 1_000


def checks(plan: Plan) -> Sequence[Check]:
    return (
        (path_begin, path_bytes, path_departures, path_delays, path_packets)
        if plan.topology.path
        else ()
    )


def ways(lab: TrialFacts) -> list[Mapping[str, Any]]:
    """What both directions show."""
    return [lab.path[way] for way in DIRECTIONS]


def path_begin(lab: TrialFacts, plan: Plan) -> CheckResult | None:
    """The trial's start is the path's time 0, where the workload lets it."""
    if WORKLOADS[WORKLOADS.name_of(plan.workload)].Source.begins_itself:
        return None
    return check("path begin", lab.source.t0_ns - int(lab.path["origin_ns"]), 0, 0, "ns")


def path_bytes(lab: TrialFacts, plan: Plan) -> CheckResult:
    """In no interval of 100 ms did more leave than the path carries, nor less in one in which
    a packet waited all the time; of all intervals the one that is furthest off. With the cell
    queue, the same holds for each time in which packets waited without a break.

    Packets under way at both ends of an interval may leave in one and be sent in the other.
    """
    worst = max(ways(lab), key=off_bits)
    return check("path bytes", off_bits(worst), 0, worst["slack_bits"], "bit")


def off_bits(way: Mapping[str, Any]) -> int:
    sums = way.get("sums", {"off_bits": 0})  # records of before have none
    return max(int(way["over_bits"]), int(way["under_bits"] or 0), int(sums["off_bits"]))


def path_departures(lab: TrialFacts, plan: Plan) -> CheckResult | None:
    """Each packet left the link when its bits had been carried, by when packets came."""
    return farthest(lab, "departure_off_ns", "path departures")


def path_delays(lab: TrialFacts, plan: Plan) -> CheckResult | None:
    """Each packet had the delay of its time; none overtook another unless this was asked."""
    return farthest(lab, "delay_off_ns", "path delays")


def farthest(lab: TrialFacts, key: str, name: str) -> CheckResult | None:
    """Of both directions' largest differences the larger one; None where neither has any."""
    found = [way[key] for way in ways(lab) if way[key] is not None]
    limit = LIMIT_NS if lab.exact else REAL_LATE_LIMIT_NS
    return check(name, max(found), 0, limit, "ns") if found else None


def path_packets(lab: TrialFacts, plan: Plan) -> CheckResult:
    """The path lost the packets that the trial's seed chose, and the others came in their order."""
    return check("path packets", sum(way["wrong"] for way in ways(lab)), 0, 0, "packets")
