# SPDX-License-Identifier: GPL-2.0-only
"""The rows of links.csv are those of the links (harness/captures/links.py)."""

from __future__ import annotations

from collections.abc import Sequence

from plan.checks import Check, CheckResult, check
from plan.facts import TrialFacts
from plan.plan import Plan


def checks(plan: Plan) -> Sequence[Check]:
    if plan.topology.layout().named and plan.record.value("throughput_sample_ns"):
        return link_sample_bytes, link_sample_rows
    return ()


def link_sample_bytes(lab: TrialFacts, plan: Plan) -> CheckResult:
    """What links.csv counts, until the queues are empty, is what the ports counted since the
    probes: by another request to the kernel, by the ports' names. Of all queues the one that is
    furthest off.
    """
    missing = []
    for name, (middle, direction) in plan.topology.layout().queues().items():
        device = middle.devices[direction]
        counted = lab.link_ip_bytes[device][1] - lab.probed_ip_bytes[device][1]
        missing.append(lab.link_samples[name]["carried_ip_bytes"] - counted)
    return check("link sample bytes", max(missing, key=abs), 0, 0, "bytes")


def link_sample_rows(lab: TrialFacts, plan: Plan) -> CheckResult:
    """Samples without a row, and rows with a value that the link cannot have.

    Where the clock runs on while the lab computes, a sample may be late, and its value larger.
    """
    kinds = ("missing_rows", "impossible_rows")[: 2 if lab.exact else 1]
    names = plan.topology.layout().queues()
    wrong = sum(lab.link_samples[name][kind] for name in names for kind in kinds)
    return check("link sample rows", wrong, 0, 0, "rows")
