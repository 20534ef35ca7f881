# SPDX-License-Identifier: GPL-2.0-only
"""The fidelity checks of web traffic."""

from __future__ import annotations

from dataclasses import dataclass

from plan.checks import REAL_LATE_LIMIT_NS, REAL_RTT_LIMIT_NS, RTT_LIMIT_NS, CheckResult, check
from plan.facts import SourceFacts, TrialFacts
from plan.plan import Plan
from workload.checks import farthest_window, wrong_requests

NS_PER_S = 1_000_000_000
# The tick rate for records that lack it.
FIRST_HZ = "100"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class WebFacts(SourceFacts):
    """The additional facts of a trial of web traffic.

    Attributes:
        unlike_connections: for each host, the connections whose ends' counts do not agree.
        peer_windows_bytes: for each host, the least and the largest window of its connections.
        handshake_excess_ns: the least difference between a handshake and its connection's round
            trip; None: there was no handshake.
        answer_excess_ns: the least difference between an answer's time and its connection's round
            trip plus the server's delay; None: there was no answer.
        expected_handshake_excess_ns: the part of the handshake that idle links cause.
        delay_off_ns: the server's wait that differs most from the trace: the difference.
    """

    unlike_connections: tuple[int, ...]
    peer_windows_bytes: tuple[tuple[int, ...], ...]
    handshake_excess_ns: float | None
    expected_handshake_excess_ns: float
    answer_excess_ns: float | None
    delay_off_ns: int | None


def requests(lab: TrialFacts, plan: Plan) -> CheckResult:
    """Count requests that were not sent or failed, and connections whose ends do not agree.

    both_ends.py compares the ends.
    """
    return wrong_requests(lab, plan, lab.source.known_by(WebFacts).unlike_connections)


def receiver_window(lab: TrialFacts, plan: Plan) -> CheckResult:
    """Compare the last windows of each host's connections with the plan's window.

    A receiver rounds its free space down to whole segments.
    """
    hosts = lab.source.known_by(WebFacts).peer_windows_bytes
    windows = [window for host in hosts for window in host]
    return farthest_window(windows if all(hosts) else [], plan)


def handshakes(lab: TrialFacts, plan: Plan) -> CheckResult:
    """Check the least excess of a handshake over its connection's round trip.

    The idle links cause the expected excess. No handshake can be shorter, and at least the first
    connection finds empty queues. The check round_trips of the delay shows, at the box, that no
    round trip is too long.
    """
    source = lab.source.known_by(WebFacts)
    limit = RTT_LIMIT_NS if lab.exact else REAL_RTT_LIMIT_NS
    excess, expected = source.handshake_excess_ns, source.expected_handshake_excess_ns
    return check("handshakes", excess, expected, limit, "ns")


def server_delays(lab: TrialFacts, plan: Plan) -> CheckResult:
    """Check the server's wait before an answer that differs most from the trace.

    The waits begin at the requests' arrival times in the kernel, so they are exact to a tick. Also,
    no answer may arrive before its round trip, the wait and the idle links allow; the clients
    measure this to the nanosecond.
    """
    source = lab.source.known_by(WebFacts)
    soonest, least = source.answer_excess_ns, source.expected_handshake_excess_ns
    if soonest is not None and soonest < least - RTT_LIMIT_NS:
        return check("server delays", soonest, least, RTT_LIMIT_NS, "ns")
    tick_ns = NS_PER_S // int(lab.versions.get("hz", FIRST_HZ))
    limit = tick_ns + (0 if lab.exact else REAL_LATE_LIMIT_NS)
    return check("server delays", source.delay_off_ns, 0, limit, "ns")
