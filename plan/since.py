# SPDX-License-Identifier: GPL-2.0-only
"""What a plan needs of Linux that an older release does not have."""

from __future__ import annotations

from plan.plan import DELAYS, QUEUES, Plan

ACCECN = (6, 18)
RFC3168_MODES = 2  # the greatest value of tcp_ecn that older releases know


def too_new(plan: Plan, version: str) -> str:
    """Return the first feature that a plan needs and a release does not have; "": there is none.

    Args:
        version: of Linux, as 6.12.
    """
    release = tuple(map(int, version.split(".")))
    queue, delay = plan.queue.down, plan.topology.delay
    for chosen, since in (
        (f"queue.kind = {QUEUES.name_of(queue)}", queue.since),
        (f"topology.delay = {delay}", DELAYS[delay].Delay.since),
    ):
        for needed, first in since.items():
            if release < first:
                return f"{needed} (Linux {first[0]}.{first[1]}), which {chosen} needs"
    modes = [flavor.sysctl.get("tcp_ecn", 0) for flavor in plan.tcp.flavors]
    if release < ACCECN and (mode := max(int(mode) for mode in modes)) > RFC3168_MODES:
        return f"AccECN (Linux 6.18), which tcp.sysctl.tcp_ecn = {mode} needs"
    return ""
