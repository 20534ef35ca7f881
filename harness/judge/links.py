# SPDX-License-Identifier: GPL-2.0-only
"""Figures of a trial over several named middle links: of each link by its name, and of each route.

A record has them as metrics: `efficiency_link1`, `dropped_share_link1`, `of_share_long`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from analysis.link_metrics import LinkMetrics
from analysis.records import Record
from plan.layout import Layout


def metrics_of(found: LinkMetrics) -> dict[str, Any]:
    """The metrics of the whole, then those of each link and each route."""
    return {
        "efficiency": found.efficiency,
        "fairness": found.fairness,
        "capacity_bit_per_s": min(found.capacity_bit_per_s.values()),
        **{f"efficiency_{name}": value for name, value in found.of_link.items()},
        **{f"of_share_{name}": value for name, value in found.of_share.items()},
    }


def of_queues(record: Record, layout: Layout) -> dict[str, float | None]:
    """Figures of each downward queue, by its kind and its link, in the measured interval."""
    facts, queue = record.facts, record.plan.queue.down
    marks = facts.marks if facts.has("marks") else {}
    begin, end = marks.get("begin"), marks.get("end", facts.queue)
    found: dict[str, float | None] = {}
    for one in layout.middles():
        name = one.queue("down")
        figures = queue.figures(end[name], None if begin is None else begin[name])
        found |= {f"{figure}_{one.name}": value for figure, value in figures.items()}
    return found


def responses(layout: Layout) -> Mapping[str, str]:
    """Metric -> its short name, of what a table and a comparison show of the links and routes.

    Of the routes, those that cross several links.
    """
    if not layout.named:
        return {}
    several = [name for name, pairs in layout.classes().items() if len(layout.route(pairs[0])) > 1]
    return {
        **{f"efficiency_{one.name}": f"eff. {one.name}" for one in layout.middles()},
        **{f"of_share_{name}": f"{name}/fair" for name in several},
    }
