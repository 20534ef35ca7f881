# SPDX-License-Identifier: GPL-2.0-only
"""How a metric's name and its numbers are written."""

from collections.abc import Iterable

from analysis.records import CampaignRecords

COUNTS = {"timeouts", "retransmits", "answered", "peak_cells"}
"""Metrics that are whole numbers."""
LARGE = 1000
"""From here on a metric's decimals tell nothing."""


def metric_form(name: str, values: Iterable[float | None]) -> str:
    """How a metric's numbers are written: counts and large values whole, others to 1e-4."""
    if name in COUNTS:
        return ",.0f"
    known = [value for value in values if value is not None]
    whole = all(value == round(value) or abs(value) >= LARGE for value in known)
    return ",.0f" if whole and any(abs(value) > 1 for value in known) else ".4f"


def metric_forms(campaign: CampaignRecords) -> dict[str, str]:
    """How each metric is written: alike in the table of all trials and in the line of one."""
    names = {name for trial in campaign.trials for name in trial.metrics}
    return {
        name: metric_form(name, (trial.metrics.get(name) for trial in campaign.trials))
        for name in names
    }


def metric_title(name: str) -> str:
    """A metric's name for a reader; its unit, when the name ends in one, in brackets."""
    for suffix, unit in (("_bit_per_s", "bit/s"), ("_bytes", "bytes"), ("_ns", "ns")):
        if name.endswith(suffix):
            return f"{name.removesuffix(suffix).replace('_', ' ').capitalize()} ({unit})"
    return name.replace("_", " ").capitalize()
