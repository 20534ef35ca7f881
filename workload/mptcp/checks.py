# SPDX-License-Identifier: GPL-2.0-only
"""The fidelity checks of sources over one or several paths."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from plan.atm import TCP_IP_HEADER_BYTES
from plan.checks import CheckResult, check
from plan.facts import SourceFacts, TrialFacts
from plan.plan import Plan
from workload.checks import farthest_window

MOST_HEADER_BYTES = TCP_IP_HEADER_BYTES + 40  # TCP options have at most 40 bytes
# The handshake, and what closes a connection after its last reading.
OTHER_SEGMENTS = 12
# Counters of /proc/net/netstat (net/mptcp/mib.c): the connection is one of TCP from then on.
FALLBACKS = """
MPCapableFallbackACK MPCapableFallbackSYNACK MPFallbackTokenInit InfiniteMapTx InfiniteMapRx
MPFailTx MPFailRx DSSNotMatching DSSCorruptionFallback DSSCorruptionReset DataCsumErr
""".split()


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class MptcpFacts(SourceFacts):
    """connections: what workload/mptcp/tables.py says of each one (facts())."""

    connections: tuple[Mapping[str, Any], ...]


def connections_of(lab: TrialFacts) -> tuple[Mapping[str, Any], ...]:
    return lab.source.known_by(MptcpFacts).connections


def subflows(lab: TrialFacts, plan: Plan) -> CheckResult:
    """Count the subflows whose handshake did not succeed, and the paths over which no data came.

    A client counts a SYN-ACK with MP_JOIN for each subflow beside the first one (RFC 8684, section
    3.2). A path may be silent if an end has reset its subflow: Linux does so if packets of the
    handshake are lost in a queue.
    """
    missing = 0
    for one in connections_of(lab):
        wanted = len(one["pairs"])
        missing += max(0, wanted - 1 - one["counters"].get("client MPJoinSynAckRx", 0))
        left = sum("left" in path for path in one["paths"])
        missing += max(0, wanted - one["subflows"] - one["resets"] - left)
    return check("subflows", missing, 0, 0, "subflows")


def left_links(lab: TrialFacts, plan: Plan) -> CheckResult | None:
    """Count the links that a client has left, and that it used before never or afterwards still."""
    paths = [path for one in connections_of(lab) for path in one["paths"] if "left" in path]
    if not paths:
        return None
    wrong = sum(path["still"] or not path["received_bytes"] for path in paths)
    return check("left links", wrong, 0, 0, "links")


def mptcp_fallback(lab: TrialFacts, plan: Plan) -> CheckResult | None:
    """Count the connections that are no longer MPTCP, and the counters of the causes."""
    several = [one for one in connections_of(lab) if len(one["pairs"]) > 1]
    if not several:
        return None
    found = sum(
        bool(one["fallback"])
        + sum(
            one["counters"].get(f"{end} {n}", 0) for end in ("client", "server") for n in FALLBACKS
        )
        for one in several
    )
    return check("mptcp fallback", found, 0, 0, "events")


def connection_bytes(lab: TrialFacts, plan: Plan) -> CheckResult:
    """Compare the bytes that a program has read with those of its connection and its subflows.

    Together, the subflows carry each byte of the connection once, and those of duplicate segments
    again. A subflow that was reset is gone with its counters: then only the connection is compared.
    """
    mss_bytes = plan.topology.mss_bytes
    wrong = [missing_bytes(one, mss_bytes) for one in connections_of(lab)]
    return check("connection bytes", max(wrong), 0, 0, "bytes")


def missing_bytes(one: Mapping[str, Any], mss_bytes: int) -> int:
    """Return the bytes of a connection that are too many or too few."""
    carried = sum(path["received_bytes"] for path in one["paths"])
    more = carried - one["read_bytes"]
    less = -more if all(path["open"] for path in one["paths"]) else 0
    again = one["counters"].get("client DuplicateData", 0) * mss_bytes
    return int(max(less, more - again, 0) + abs(one["whole_bytes"] - one["read_bytes"]))


def subflow_bytes(lab: TrialFacts, plan: Plan) -> CheckResult:
    """Compare the payload of each subflow with the bytes that its own access link carried.

    Each segment has a header of 40 to 80 bytes. Payload that came again is no payload of the
    subflow. If a client has left a link, the server still sends what was in the subflow's socket,
    and what MPTCP gave to it until REMOVE_ADDR came: with headers, at most twice the first.
    """
    layout = plan.topology.layout()
    off = 0
    for path in (path for one in connections_of(lab) for path in one["paths"] if path["open"]):
        port = layout.clients()[path["pair"] - 1].switch_port
        carried = lab.link_ip_bytes[port][1] - lab.probed_ip_bytes[port][1]
        more, segments = carried - path["received_bytes"], path["segments_in"]
        most = MOST_HEADER_BYTES * (segments + OTHER_SEGMENTS) + path["retransmitted_bytes"]
        most += 2 * path.get("queued_bytes", 0)
        off = max(off, TCP_IP_HEADER_BYTES * segments - more, more - most)
    return check("subflow bytes", off, 0, 0, "bytes")


def receiver_window(lab: TrialFacts, plan: Plan) -> CheckResult:
    """Compare the last window that each sender got with the plan's window.

    A subflow that was reset has no window.
    """
    told = lab.source.peer_window_bytes
    known = [window for window in told if window is not None]
    resets = sum(one["resets"] for one in connections_of(lab))
    whole = len(told) == plan.topology.pairs and len(told) - len(known) <= resets
    return farthest_window(known if whole else [], plan)
