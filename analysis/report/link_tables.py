# SPDX-License-Identifier: GPL-2.0-only
"""The tables of named middle links: of each cell, and of each trial."""

from __future__ import annotations

from analysis import by_link
from analysis.records import Trial
from analysis.report.headings import named, titled
from analysis.report.metric_words import metric_title
from analysis.report.model import Column, Sheet, Value
from analysis.report.results import Results
from plan.layout import Layout, Middle

COLUMNS = (
    Column(name="link", title="Link"),
    Column(name="rate_bit_per_s", title="Rate (bit/s)", form=",d"),
    Column(name="delay_ms", title="Delay (ms)", form=",.3f"),
    Column(name="pairs", title="Pairs", form=",d"),
    Column(name="efficiency", title="Efficiency", form=".4f"),
    Column(name="carried_bytes", title="Carried (bytes)", form=",d"),
    Column(name="dropped_packets", title="Dropped (packets)", form=",d"),
    Column(name="queue_mean_packets", title="Mean queue (packets)", form=",.1f"),
    Column(name="queue_most_packets", title="Longest queue (packets)", form=",d"),
)


def cells(results: Results, group: str) -> Sheet | None:
    """The efficiency and the drops of each link, and the share of each route, cell by cell.

    None if no trial has named links. A cell without a link or a route has an empty value.
    """
    found = [cell for cell in results.every(group) if cell.trials]
    layouts = [cell.plan.topology.layout() for cell in found]
    metrics = [*dict.fromkeys(name for one in layouts if one.named for name in metrics_of(one))]
    if not metrics:
        return None
    factors = results.factors
    columns = [Column(name=factor, title=factor) for factor in factors]
    columns += [Column(name=name, title=metric_title(name), form=".4f") for name in metrics]
    return Sheet(
        name=named("links", group),
        caption=titled(group, "the links and the routes, as the mean over the seeds"),
        columns=columns,
        rows=[
            [*(cell.levels.get(factor) for factor in factors), *map(cell.mean, metrics)]
            for cell in found
        ],
        heads=len(factors),
    )


def metrics_of(layout: Layout) -> list[str]:
    """The names of the metrics of all links and routes (harness/judge/links.py)."""
    links = [one.name for one in layout.middles()]
    of_links = [f"{what}_{name}" for what in ("efficiency", "dropped_share") for name in links]
    return [*of_links, *(f"of_share_{name}" for name in layout.classes())]


def links(trial: Trial) -> Sheet | None:
    """What each link towards the clients was and carried; None with one link without a name."""
    layout = trial.plan.topology.layout()
    if not layout.named:
        return None
    return Sheet(
        name=f"links-{trial.name}",
        caption="Links, towards the clients; carried: IP packets in the whole trial, from the first"
        " packet of the probes to the last packet",
        columns=COLUMNS,
        rows=[row(trial, one, len(layout.crossing(one))) for one in layout.middles()],
    )


def row(trial: Trial, middle: Middle, pairs: int) -> list[Value]:
    """The values of one link. An empty value was not recorded."""
    name, port = middle.queue("down"), middle.devices["down"]
    _, lengths = by_link.queue(trial, name)
    queue = trial.plan.queue.down
    return [
        middle.name,
        middle.link.rate_bit_per_s,
        middle.link.delay_ns / 1e6,
        pairs,
        trial.metrics.get(f"efficiency_{middle.name}"),
        trial.facts.link_ip_bytes[port][1],
        queue.refused(trial.facts.queue[name]),
        float(lengths.mean()) if len(lengths) else None,
        int(lengths.max()) if len(lengths) else None,
    ]
