# SPDX-License-Identifier: GPL-2.0-only
"""What web traffic is held to."""

from __future__ import annotations

from dataclasses import dataclass

from plan.checks import REAL_LATE_LIMIT_NS, REAL_RTT_LIMIT_NS, RTT_LIMIT_NS, CheckResult, check
from plan.facts import SourceFacts, TrialFacts
from plan.plan import Plan
from workload.checks import farthest_window, wrong_requests

NS_PER_S = 1_000_000_000
# Of records that do not say how often their kernel ticked.
FIRST_HZ = "100"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class WebFacts(SourceFacts):
    """What a trial of web traffic says besides.

    Attributes:
        unlike_connections: of each host, those of which both ends' counts do not agree.
        peer_windows_bytes: the least and the largest of a host's connections.
        handshake_excess_ns, answer_excess_ns: the least by which one took longer than its
            connection's round trip, and the server's delay; None: there was none.
        expected_handshake_excess_ns: the idle links' part.
        delay_off_ns: of the servers' waits the one furthest from the trace's.
    """

    unlike_connections: tuple[int, ...]
    peer_windows_bytes: tuple[tuple[int, ...], ...]
    handshake_excess_ns: float | None
    expected_handshake_excess_ns: float
    answer_excess_ns: float | None
    delay_off_ns: int | None


def requests(lab: TrialFacts, plan: Plan) -> CheckResult:
    """Requests that were not sent or came back wrong, and connections of which both ends' counts
    do not agree (both_ends.py).
    """
    return wrong_requests(lab, plan, lab.source.known_by(WebFacts).unlike_connections)


def receiver_window(lab: TrialFacts, plan: Plan) -> CheckResult:
    """The window that servers were last told: the least and the largest of a host's connections,
    against the plan's. A receiver rounds what it has left down to whole segments.
    """
    hosts = lab.source.known_by(WebFacts).peer_windows_bytes
    windows = [window for host in hosts for window in host]
    return farthest_window(windows if all(hosts) else [], plan)


def handshakes(lab: TrialFacts, plan: Plan) -> CheckResult:
    """The shortest handshake less its connection's own round trip, against the idle links' part.

    None is shorter than that, and some connection finds the queues empty, if only the first. That
    none has a longer round trip than its own is the delay's check (round_trips), at the box.
    """
    source = lab.source.known_by(WebFacts)
    limit = RTT_LIMIT_NS if lab.exact else REAL_RTT_LIMIT_NS
    excess, expected = source.handshake_excess_ns, source.expected_handshake_excess_ns
    return check("handshakes", excess, expected, limit, "ns")


def server_delays(lab: TrialFacts, plan: Plan) -> CheckResult:
    """Servers wait before they answer: of all waits the one that is furthest off.

    By the kernel's times of the requests' arrivals, to a tick; and to the nanosecond, by their
    clients, no answer came sooner than its round trip, the wait and the idle links allow.
    """
    source = lab.source.known_by(WebFacts)
    soonest, least = source.answer_excess_ns, source.expected_handshake_excess_ns
    if soonest is not None and soonest < least - RTT_LIMIT_NS:
        return check("server delays", soonest, least, RTT_LIMIT_NS, "ns")
    tick_ns = NS_PER_S // int(lab.versions.get("hz", FIRST_HZ))
    limit = tick_ns + (0 if lab.exact else REAL_LATE_LIMIT_NS)
    return check("server delays", source.delay_off_ns, 0, limit, "ns")
