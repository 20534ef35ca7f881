# SPDX-License-Identifier: GPL-2.0-only
"""What round trips of connections are held to, by what the workload says of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from plan.checks import REAL_LATE_LIMIT_NS, RTT_LIMIT_NS, CheckResult, check
from plan.facts import SourceFacts, TrialFacts
from plan.plan import Plan


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RoundTripFacts(SourceFacts):
    """What a workload says that has given connections their round trips.

    Attributes:
        connected: connections that their clients have seen begin.
        round_trips: how many `passed` the box both ways, and `farthest_ns`, the largest
            difference of one's way to half of its round trip, or None.
        delays: what the program counted (program.Counters).
    """

    connected: int
    round_trips: Mapping[str, int | None]
    delays: Mapping[str, int]


def round_trips(lab: TrialFacts, plan: Plan) -> CheckResult:
    """Of all connections' first packets and their answers, how much longer or shorter than half of
    a round trip they were in the box in the middle; the one that is furthest off.

    As seen at the box's devices, and not by what delays. A connection that began was seen.
    """
    source = lab.source.known_by(RoundTripFacts)
    seen = source.round_trips
    farthest = seen["farthest_ns"] if (seen["passed"] or 0) >= source.connected else None
    limit = RTT_LIMIT_NS if lab.exact else REAL_LATE_LIMIT_NS
    return check("round trips", farthest, 0, limit, "ns")


def delay_faults(lab: TrialFacts, plan: Plan) -> CheckResult:
    """Packets that found no round trip of their connection, or no departure time."""
    counters = lab.source.known_by(RoundTripFacts).delays
    return check("delay faults", counters["unknown"] + counters["refused"], 0, 0, "packets")
