# SPDX-License-Identifier: GPL-2.0-only
"""The tables of its README, from the kept results."""

from collections.abc import Callable, Mapping

from analysis.kept import Kept, number
from analysis.report.model import Sheet, Value, plain
from studies.ubrplus_1998 import (
    beside_model,
    differences,
    open_points,
    sensitivity,
    source_tables,
    verdicts,
    witnesses,
)
from studies.ubrplus_1998.cells import RESPONSES, cells_of, distance, heads
from studies.ubrplus_1998.ns3 import tables as ns3_tables
from studies.ubrplus_1998.source_tables import MINIMA, TEXT
from studies.ubrplus_1998.study import CELL
from studies.ubrplus_1998.verdicts import RFC

CAMPAIGNS: Mapping[str, tuple[str, Mapping[str, str]]] = {
    **{f"the text, minimum {minimum}": (TEXT, {"minimum": minimum}) for minimum in MINIMA},
    "later RFCs": (RFC, {}),
}
"""Whose senders they are: the campaign, and which of its cells."""


def distances(kept: Kept) -> Sheet:
    """How far each network's cells are from the published, for each set of senders."""
    rows = [
        [name, network, *distance(cells, "efficiency"), *distance(cells, "fairness")]
        for name, (campaign, where) in CAMPAIGNS.items()
        for network in CELL["network"]
        for cells in [cells_of(kept, campaign, network=network, **where)]
    ]
    columns = heads(
        ("mean absolute difference", ".3f"),
        ("mean difference", "+.3f"),
        ("rank correlation", ".3f"),
    )
    return plain(rows, "senders", "network", *columns)


def simulation(kept: Kept) -> Sheet:
    """Mean absolute differences to the simulation, with the largest of a cell."""
    rows: list[list[Value]] = []
    senders = (("the text, minimum 2 ticks", TEXT, "literal"), ("later RFCs", RFC, "today"))
    for text, campaign, name in senders:
        found = kept.table(campaign, "predictions").rows
        for network in CELL["network"]:
            of = {"prediction": name, "group": network}
            cells = {row["response"]: row for row in found if of.items() <= row.items()}
            figures = [
                number(cells[response], column)
                for response in RESPONSES
                for column in ("mean_absolute_difference", "mean_difference", "largest_difference")
            ]
            rows.append([text, network, *figures])
    columns = heads(("mean absolute", ".3f"), ("mean", "+.3f"), ("largest", "+.3f"))
    return plain(rows, "senders", "network", *columns)


TABLES: Mapping[str, Callable[[Kept], Sheet]] = {
    "distances": distances,
    "simulation": simulation,
    "claims": verdicts.claims,
    "failing": verdicts.failing,
    "source-cells": source_tables.cells,
    "source-allocation": source_tables.allocation,
    "source-effects": source_tables.effects,
    **witnesses.TABLES,
    **beside_model.TABLES,
    **differences.TABLES,
    "ns-3": ns3_tables.ns_3,
    **open_points.TABLES,
    "sensitivity": sensitivity.sensitivity,
}
