# SPDX-License-Identifier: GPL-2.0-only
"""What a full queue of cells costs in time, beside the path, where a campaign varies its room."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.report.model import listed
from analysis.report.results import Results
from plan.atm import CELL_BITS, sent_ms
from plan.plan import Plan

MOST_ROOMS = 8
"""Of more rooms, the sentence would be a table."""


def sentences(results: Results) -> Iterator[str]:
    """One sentence if all trials have the same still dumbbell of cells, and its queue varies."""
    plans = [trial.plan for trial in results.campaign.trials]
    found = [room_of(plan) for plan in plans]
    rooms = sorted({room for room in found if room is not None})
    paths = {(one.topology.rate_bit_per_s, one.topology.delay_ns) for one in plans}
    if None in found or len(paths) != 1 or not 1 < len(rooms) <= MOST_ROOMS:
        return
    [(rate, delay_ns)] = paths
    path_cells = rate * 2 * delay_ns / 1e9 / CELL_BITS
    waits_ms = [sent_ms(room, rate) for room in rooms]
    yield (
        f"In the round trip of an empty queue, the link carries about {path_cells:,.0f} cells. "
        f"A full queue of {listed(f'{room:,}' for room in rooms)} cells takes "
        f"{listed(f'{wait:,.3g}' for wait in waits_ms)} ms."
    )


def room_of(plan: Plan) -> int | None:
    """The cells of its queue; None unless it is a still dumbbell with a queue of cells."""
    network = plan.topology
    still = network.shape is None and network.path is None and network.link_layer == "atm"
    return plan.queue.down.room_cells if still else None
