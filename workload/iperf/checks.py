# SPDX-License-Identifier: GPL-2.0-only
"""The fidelity checks of persistent sources."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from plan.checks import CheckResult, check
from plan.facts import SourceFacts, TrialFacts
from plan.plan import Plan
from workload.checks import farthest_window
from workload.checks import receiver_window as window_of_all

COOKIE_BYTES = 37  # iperf3 sends a cookie first on each connection, before it may send data
MOST_IN_HANDSHAKE = 65_535  # a window in a SYN is never scaled (RFC 7323, section 2.2)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PersistentFacts(SourceFacts):
    """idle_sources: sources with nothing to send at the end of the measured interval."""

    idle_sources: int


def starved(lab: TrialFacts) -> Sequence[bool]:
    """Return for each pair whether its source starved: frames were lost, and no data ever arrived.

    Such a source repeatedly lost its first segments. Either its iperf3 has no data connection yet,
    or it has sent its cookie and waits for the permission to begin. So it has nothing to send. If
    the ports under test lost nothing, a silent source is a fault of the lab, and it did not starve.
    """
    lost = sum(lab.losses.at_port.values()) > 0
    whole = lab.source.received_whole_bytes
    return [lost and received in (0, COOKIE_BYTES) for received in whole]


def idle_sources(lab: TrialFacts, plan: Plan) -> CheckResult:
    """Count the sources with nothing to send at the interval's end, without the starved ones."""
    idle = lab.source.known_by(PersistentFacts).idle_sources
    found = max(0, idle - sum(starved(lab))) if idle else 0
    return check("idle sources", found, 0, 0, "sources")


def receiver_window(lab: TrialFacts, plan: Plan) -> CheckResult:
    """Compare the last window that each sender got with the plan's window.

    A starved source may have got no window, or only the window of the handshake.
    """
    told = lab.source.peer_window_bytes
    if not any(starved(lab)):
        return window_of_all(lab, plan)
    early = {None, MOST_IN_HANDSHAKE} - {plan.tcp.window_bytes}
    of_all = zip(told, starved(lab), strict=True)
    later = [window for window, none in of_all if not (none and window in early)]
    known = [window for window in later if window is not None]
    return farthest_window(known if len(known) == len(later) else [], plan)
