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

COOKIE_BYTES = 37  # what iperf3 sends first on each connection, before it may send data
MOST_IN_HANDSHAKE = 65_535  # a window in a SYN is never scaled (RFC 7323, section 2.2)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PersistentFacts(SourceFacts):
    """idle_sources: those with nothing to send at the end of the measured interval."""

    idle_sources: int


def starved(lab: TrialFacts) -> Sequence[bool]:
    """Of each pair: did no data of its source ever arrive, where the ports under test lost frames?

    Such a source lost its first segments, again and again: its iperf3 has no data connection yet,
    or has sent its cookie and waits to be told that it may begin. So it has nothing to send. Where
    the ports lost nothing, a silent source is a fault of the lab.
    """
    lost = sum(lab.losses.at_port.values()) > 0
    whole = lab.source.received_whole_bytes
    return [lost and received in (0, COOKIE_BYTES) for received in whole]


def idle_sources(lab: TrialFacts, plan: Plan) -> CheckResult:
    """Persistent sources with nothing to send at the interval's end, but those that starved."""
    idle = lab.source.known_by(PersistentFacts).idle_sources
    found = max(0, idle - sum(starved(lab))) if idle else 0
    return check("idle sources", found, 0, 0, "sources")


def receiver_window(lab: TrialFacts, plan: Plan) -> CheckResult:
    """The window that each sender was last told, against the plan's.

    A starved source may have been told none, or only that of the handshake.
    """
    told = lab.source.peer_window_bytes
    if not any(starved(lab)):
        return window_of_all(lab, plan)
    early = {None, MOST_IN_HANDSHAKE} - {plan.tcp.window_bytes}
    of_all = zip(told, starved(lab), strict=True)
    later = [window for window, none in of_all if not (none and window in early)]
    known = [window for window in later if window is not None]
    return farthest_window(known if len(known) == len(later) else [], plan)
