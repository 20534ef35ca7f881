# SPDX-License-Identifier: GPL-2.0-only
"""The checks of trials over QUIC, beside those of requests (workload/checks.py)."""

from __future__ import annotations

from dataclasses import dataclass

from plan.checks import REAL_LATE_LIMIT_NS, CheckResult, check
from plan.facts import SourceFacts, TrialFacts
from plan.plan import Plan

# ngtcp2 cuts the moments in its qlog to whole milliseconds.
OFF_LIMIT_NS = {"ngtcp2": 1_000_000, "aioquic": 1_000}


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class QuicFacts(SourceFacts):
    """What only this workload knows; a list has one value for each pair.

    Attributes:
        ended: why a connection ended before the trial did; empty: it did not.
        unlike_packets: packets that only the server's qlog has, or only the wire.
        off_ns: the largest difference between the moment at which a packet left the host, and
            the moment at which it had to by the server's qlog and the access link.
    """

    ended: tuple[str, ...]
    unlike_packets: tuple[int, ...]
    off_ns: tuple[int, ...]


def connections(lab: TrialFacts, plan: Plan) -> CheckResult:
    """Count connections that ended before the trial."""
    ended = lab.source.known_by(QuicFacts).ended
    if len(ended) != plan.topology.pairs:
        return check("connections", None, 0, 0, "connections")
    return check("connections", sum(map(bool, ended)), 0, 0, "connections")


def sent_packets(lab: TrialFacts, plan: Plan) -> CheckResult:
    """Count packets that are in the qlog of a server or on its wire, and not in both."""
    unlike = lab.source.known_by(QuicFacts).unlike_packets
    if len(unlike) != plan.topology.pairs:
        return check("sent packets", None, 0, 0, "packets")
    return check("sent packets", sum(unlike), 0, 0, "packets")


def sent_moments(lab: TrialFacts, plan: Plan) -> CheckResult:
    """Compare the moments at which packets left with those that the server's timers chose."""
    off = lab.source.known_by(QuicFacts).off_ns
    limit = OFF_LIMIT_NS[plan.workload.stack] if lab.exact else REAL_LATE_LIMIT_NS  # type: ignore[attr-defined]
    worst = max(off, key=abs) if len(off) == plan.topology.pairs else None
    return check("sent moments", worst, 0, limit, "ns")
