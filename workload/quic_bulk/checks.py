# SPDX-License-Identifier: GPL-2.0-only
"""The check that only persistent sources over QUIC have."""

from __future__ import annotations

from dataclasses import dataclass

from plan.checks import CheckResult, check
from plan.facts import SourceFacts, TrialFacts
from plan.plan import Plan

WINDOWS = 3
"""Of the rest of a file, one window may be in flight and one may wait for a lost packet. The server
sends one more until it has the next request."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class BulkFacts(SourceFacts):
    """What only this workload knows; a list has one value for each pair.

    Attributes:
        least_left_bytes: the least rest of one file when the other had come; None: none had come.
        most_flight_bytes: the most data in flight, as the server's qlog says.
    """

    least_left_bytes: tuple[int | None, ...]
    most_flight_bytes: tuple[int, ...]


def unsent_data(lab: TrialFacts, plan: Plan) -> CheckResult:
    """Count the sources that may have had nothing to send at some moment."""
    facts = lab.source.known_by(BulkFacts)
    left, flight = facts.least_left_bytes, facts.most_flight_bytes
    if not len(left) == len(flight) == plan.topology.pairs:
        return check("unsent data", None, 0, 0, "sources")
    both = zip(left, flight, strict=True)
    short = sum(rest is not None and rest < WINDOWS * most for rest, most in both)
    return check("unsent data", short, 0, 0, "sources")
