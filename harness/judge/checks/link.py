# SPDX-License-Identifier: GPL-2.0-only
"""The middle links ran at their rates, and their delays were right."""

from __future__ import annotations

from collections.abc import Sequence

from plan.atm import CELL_BITS
from plan.checks import REAL_RTT_LIMIT_NS, RTT_LIMIT_NS, Check, CheckResult, check
from plan.facts import TrialFacts
from plan.layout import DIRECTIONS, Middle
from plan.plan import Plan
from topology.commands import PORTS

RATE_LIMIT = 1e-3
REAL_RATE_LIMIT = 1e-2
# A stretch of the link being busy; its ends were 1 to 3 us off in the vm lab.
REAL_STRETCH_NS = 1_000_000
# A delay that is 1 % off is seen; but ping prints whole microseconds, of two clock readings.
RTT_LIMIT_SHARE = 0.005
RTT_RESOLUTION_NS = 1_500
REAL_RTT_SHARE = 0.1


def checks(plan: Plan) -> Sequence[Check]:
    layout = plan.topology.layout()
    if not layout.named:
        return link_rate, idle_round_trip
    rates = [rate_of(middle) for middle in layout.middles()]
    return *rates, *(round_trip_of(name) for name in layout.classes())


def rate_of(middle: Middle) -> Check:
    """The rate of one of several middle links, as a train of packets before the trial shows it."""

    def rate(lab: TrialFacts, plan: Plan) -> CheckResult | None:
        layout = plan.topology.layout()
        pair = layout.prober(middle)
        if pair is None:
            return None
        expected = layout.slowest(pair).rate_bit_per_s
        if expected > layout.access.rate_bit_per_s:
            return None
        probed = [lab.probed_rate_bit_per_s[middle.queue(way)] for way in DIRECTIONS]
        known = [one for one in probed if one is not None]
        return farthest_rate(
            known if len(known) == len(probed) else [], expected, lab, f"link rate {middle.name}"
        )

    rate.__name__ = f"link_rate_{middle.name}"
    return rate


def round_trip_of(route: str) -> Check:
    """Pings over one of several routes, which is idle, against propagation and serialisation."""

    def round_trip(lab: TrialFacts, plan: Plan) -> CheckResult:
        found = lab.routes[route]
        return idle_verdict(
            f"idle round trip {route}",
            found["idle_round_trip_ns"],
            found["expected_idle_round_trip_ns"],
            lab,
        )

    round_trip.__name__ = f"idle_round_trip_{route}"
    return round_trip


def link_rate(lab: TrialFacts, plan: Plan) -> CheckResult | None:
    """Cells over the time that the middle link was busy, as seen at its ends (bpf/wire.h).

    Of both directions the one that is further off. Where access links are slower than the
    middle link, no frame shows from outside when it is busy. Where the clock runs on while the
    lab computes, both ends of a busy stretch are microseconds off: a direction whose stretches
    are short, such as one of single acknowledgements, tells nothing there.

    Where the queue does not watch the link, the rate is that of a train of packets before the
    trial.
    """
    expected = rate_of_train(plan)
    if plan.topology.path and plan.queue.down.watches_wire:
        return None  # path.py
    if expected > plan.topology.access_rate_bit_per_s:
        return None
    watched = [plan.queue.at(port).wire(lab.queue[port]) for port in PORTS]
    wires = [wire for wire in watched if wire is not None]
    if len(wires) < len(watched):
        probed = [rate for rate in lab.probed_rate_bit_per_s.values() if rate is not None]
        whole = len(probed) == len(lab.probed_rate_bit_per_s)
        return farthest_rate(probed if whole else [], expected, lab)
    whole = all(w and w["busy_ns"] for w in wires)
    if whole and not lab.exact:
        wires = [w for w in wires if w["busy_ns"] >= REAL_STRETCH_NS * w["stretches"]]
        if not wires:
            return None
    rates = [w["cells"] * CELL_BITS * 1e9 / w["busy_ns"] for w in wires if whole]
    return farthest_rate(rates, expected, lab)


def rate_of_train(plan: Plan) -> float:
    """The rate of the still link as a train of full packets shows it (probe.rate_taken) [bit/s]."""
    topology, path = plan.topology, plan.topology.path
    ip_bytes = topology.layout().mtu_bytes
    sent_ns = path.time_ns(ip_bytes, topology.rate_bit_per_s) if path else None
    if sent_ns is None:
        return topology.rate_bit_per_s
    return topology.framing.link_bytes(ip_bytes) * 8e9 / sent_ns


def farthest_rate(
    rates: Sequence[float], expected: float, lab: TrialFacts, name: str = "link rate"
) -> CheckResult:
    """Of the measured rates the one that is furthest off; none is no measurement."""
    worst = max(rates, key=lambda rate: abs(rate - expected), default=None)
    limit = RATE_LIMIT if lab.exact else REAL_RATE_LIMIT
    return check(name, worst, expected, expected * limit, "bit/s")


def idle_round_trip(lab: TrialFacts, plan: Plan) -> CheckResult:
    """Pings over the idle path, against propagation and serialisation."""
    return idle_verdict(
        "idle round trip", lab.idle_round_trip_ns, lab.expected_idle_round_trip_ns, lab
    )


def idle_verdict(
    name: str, times: Sequence[float], expected: float, lab: TrialFacts
) -> CheckResult:
    """Of the measured times the one that is furthest off, or the typical one in real time."""
    worst = max(times, key=lambda t: abs(t - expected)) if times else None
    limit = max(RTT_RESOLUTION_NS, min(RTT_LIMIT_NS, RTT_LIMIT_SHARE * expected))
    if not lab.exact:
        # The typical one: a single ping tells of its own bad luck only.
        worst = sorted(times)[len(times) // 2] if times else None
        limit = max(REAL_RTT_LIMIT_NS, REAL_RTT_SHARE * expected)
    return check(name, worst, expected, limit, "ns")
