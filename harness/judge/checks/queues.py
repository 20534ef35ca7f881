# SPDX-License-Identifier: GPL-2.0-only
"""The queues under test did what they say, and every packet is accounted for."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from harness.judge.checks.losses import lost_on_path
from plan.checks import Check, CheckResult, check
from plan.facts import TrialFacts
from plan.plan import Plan
from topology.commands import DOWN_PORT, PORTS, UP_PORT


def checks(plan: Plan) -> Sequence[Check]:
    return queue_faults, conservation("down"), conservation("up")


def queue_faults(lab: TrialFacts, plan: Plan) -> CheckResult | None:
    """What the queue programs could not judge exactly: unmarked, late, out of step."""
    faults = [plan.queue.at(port).faults(lab.queue[port]) for port in PORTS]
    known = [found for found in faults if found is not None]
    whole = len(known) == len(faults)
    return check("queue faults", sum(known), 0, 0, "frames") if whole else None


def conservation(direction: str) -> Callable[[TrialFacts, Plan], CheckResult]:
    """Packets into a port = packets out + dropped by cause + still queued; packets out of it =
    packets into the far port + lost by the path, where it is to lose any.

    Counted by the kernel's interface counters on one side and the queue's own on the other:
    what the hosts sent, what the queue judged, what left, what the other side's hosts got.
    """
    hosts, port, far_port, far_hosts = {
        "down": ("sw2-s", DOWN_PORT, UP_PORT, "sw1-c"),
        "up": ("sw1-c", UP_PORT, DOWN_PORT, "sw2-s"),
    }[direction]

    def conserved(lab: TrialFacts, plan: Plan) -> CheckResult:
        links = lab.links
        sent = sum(c[0] for name, c in links.items() if name.startswith(hosts) and name != port)
        got = sum(
            c[1] for name, c in links.items() if name.startswith(far_hosts) and name != far_port
        )
        missing = [
            *plan.queue.at(direction).unaccounted(lab.queue[direction], sent, links[port][1]),
            links[port][1] - links[far_port][0] - lost_on_path(lab, plan, direction),
            links[far_port][0] - got,
        ]
        return check(f"conservation {direction}", max(map(abs, missing)), 0, 0, "packets")

    conserved.__name__ = f"conservation_{direction}"
    return conserved
