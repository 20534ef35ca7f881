# SPDX-License-Identifier: GPL-2.0-only
"""What persistent sources are held to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from plan.checks import CheckResult, check
from plan.facts import SourceFacts, TrialFacts
from plan.plan import Plan
from workload.checks import farthest_window
from workload.checks import receiver_window as window_of_all


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PersistentFacts(SourceFacts):
    """idle_sources: those with nothing to send at the end of the measured interval."""

    idle_sources: int


def starved(lab: TrialFacts) -> Sequence[bool]:
    """Of each pair: did nothing of its source ever arrive, where the ports under test lost frames?

    Such a source lost its first segments, again and again: its iperf3 has no data connection yet,
    or waits for the ACK of its first words. So it has nothing to send, and its goodput is 0. Where
    the ports lost nothing, a silent source is a fault of the lab.
    """
    lost = sum(lab.losses.at_port.values()) > 0
    return [lost and received == 0 for received in lab.source.received_whole_bytes]


def idle_sources(lab: TrialFacts, plan: Plan) -> CheckResult:
    """Persistent sources with nothing to send at the interval's end, but those that starved."""
    idle = lab.source.known_by(PersistentFacts).idle_sources
    found = max(0, idle - sum(starved(lab))) if idle else 0
    return check("idle sources", found, 0, 0, "sources")


def receiver_window(lab: TrialFacts, plan: Plan) -> CheckResult:
    """The window that each sender was last told, against the plan's.

    A starved source may have been told none.
    """
    told = lab.source.peer_window_bytes
    if None not in told:
        return window_of_all(lab, plan)
    pairs = list(zip(told, starved(lab), strict=True))
    known = [window for window, _ in pairs if window is not None]
    missing = any(window is None and not none for window, none in pairs)
    return farthest_window([] if missing else known, plan)
