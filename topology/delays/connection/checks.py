# SPDX-License-Identifier: GPL-2.0-only
"""The checks of connections' round trips, with the facts that the workload reports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from plan.checks import REAL_LATE_LIMIT_NS, RTT_LIMIT_NS, CheckResult, check
from plan.facts import SourceFacts, TrialFacts
from plan.plan import Plan


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RoundTripFacts(SourceFacts):
    """The facts of a workload that gives connections their round trips.

    Attributes:
        connected: connections that began, as their clients saw.
        round_trips: `passed` counts connections that passed the box both ways. `farthest_ns` is the
            largest difference between a passage and half of the round trip, or None.
        delays: the program's counters (program.Counters).
    """

    connected: int
    round_trips: Mapping[str, int | None]
    delays: Mapping[str, int]


def round_trips(lab: TrialFacts, plan: Plan) -> CheckResult:
    """Check the time that each connection's first packet and its answer spent in the box.

    The result is the largest difference from half of the round trip. The times come from captures
    at the box's devices, and not from the program that delays. All connections must be captured.
    """
    source = lab.source.known_by(RoundTripFacts)
    seen = source.round_trips
    farthest = seen["farthest_ns"] if (seen["passed"] or 0) >= source.connected else None
    limit = RTT_LIMIT_NS if lab.exact else REAL_LATE_LIMIT_NS
    return check("round trips", farthest, 0, limit, "ns")


def delay_faults(lab: TrialFacts, plan: Plan) -> CheckResult:
    """Check that no packet lacked its connection's round trip or a departure time."""
    counters = lab.source.known_by(RoundTripFacts).delays
    return check("delay faults", counters["unknown"] + counters["refused"], 0, 0, "packets")
