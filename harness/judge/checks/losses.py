# SPDX-License-Identifier: GPL-2.0-only
"""Nothing was lost but in the queues under test, and what the path was told to lose."""

from __future__ import annotations

from collections.abc import Sequence

from plan.checks import Check, CheckResult, check
from plan.facts import TrialFacts
from plan.layout import Middle
from plan.plan import Plan
from topology.commands import PORTS

# Further off by chance is one seed in two million.
LOSS_LIMIT_DEVIATIONS = 5


def checks(plan: Plan) -> Sequence[Check]:
    return drops_elsewhere, path_losses


def drops_elsewhere(lab: TrialFacts, plan: Plan) -> CheckResult:
    """Packets lost anywhere but in the queues under test: switches, box, hosts, backlogs.

    Every namespace must have been read. The ports count what their queues refuse, and so
    much of their count is no loss elsewhere; nor is what the path was told to lose.
    """
    losses, layout = lab.losses, plan.topology.layout()
    if losses.namespaces < len(layout.nodes()) + len(layout.middles()) + 1:
        return check("drops elsewhere", None, 0, 0, "packets")
    at_ports = sum(
        max(0, losses.at_port[name] - plan.queue.at(way).refused(lab.queue[name]))
        for name, (_, way) in layout.queues().items()
    )
    # One that fell was begun anew with its device, and what it had counted is not known.
    lost = sum(map(abs, losses.elsewhere.values())) + at_ports
    return check("drops elsewhere", lost, 0, 0, "packets")


def path_losses(lab: TrialFacts, plan: Plan) -> CheckResult | None:
    """Where the path is to lose packets, how many it lost of those that left the port.

    Of both directions the one that is further off, in standard deviations.
    """
    loss = plan.topology.loss
    if loss is None:
        return None
    verdicts = []
    for way in loss.directions:
        packets = lab.links[PORTS[way]][1]
        limit = 1 + LOSS_LIMIT_DEVIATIONS * loss.spread(packets)
        lost = lost_on_path(lab, plan, plan.topology.layout().moved, way)
        verdicts.append(check("path losses", lost, packets * loss.share, limit, "packets"))
    return max(verdicts, key=lambda one: abs(one["measured"] - one["expected"]) / one["limit"])


def lost_on_path(lab: TrialFacts, plan: Plan, middle: Middle, direction: str) -> int:
    """Packets of a direction that a link was told to lose, and lost."""
    topology = plan.topology
    if middle != topology.layout().moved:
        return 0
    lossy = topology.path or (topology.loss and direction in topology.loss.directions)
    return lab.losses.on_path[direction] if lossy else 0
