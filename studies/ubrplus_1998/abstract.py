# SPDX-License-Identifier: GPL-2.0-only
"""The numbers of its README's abstract (sentences.toml), from the kept results."""

from analysis.kept import Kept
from analysis.report.sentences import Numbers
from studies.ubrplus_1998 import verdicts
from studies.ubrplus_1998.cells import cells_of, distance
from studies.ubrplus_1998.ns3.tables import places
from studies.ubrplus_1998.numbers import TEXT, draws, minimum, simulation
from studies.ubrplus_1998.study import CELL

MINIMUM = "1 s"
"""The minimum of the timeout whose results the abstract gives."""


def abstract(kept: Kept) -> Numbers:
    """Distances from the paper and the simulation, verdicts, and cells that no seed could give."""
    near: dict[str, float] = {}
    ranks: list[float] = []
    fair_ranks: list[float] = []
    for network in CELL["network"]:
        cells = cells_of(kept, TEXT, minimum=MINIMUM, network=network)
        mean, _, rank = distance(cells, "efficiency")
        near[network.lower()] = _number(mean)
        ranks.append(_number(rank))
        fair_ranks.append(_number(distance(cells, "fairness")[2]))
    return {
        **minimum(kept),
        **simulation(kept),
        **_ns_3(kept),
        **draws(kept),  # the last: its cells are those of all networks
        **near,
        "rank_least": min(ranks),
        "rank_most": max(ranks),
        "fair_rank_least": min(fair_ranks),
        "fair_rank_most": max(fair_ranks),
        **verdicts.numbers(kept, MINIMUM),
    }


def _ns_3(kept: Kept) -> dict[str, float]:
    """How far ns-3 is below the kernel, over its cells."""
    off = [
        float(place.kernel["efficiency"]) - place.witness("efficiency") for place in places(kept)
    ]
    return {"ns3_places": len(off), "ns3_least": min(off), "ns3_most": max(off)}


def _number(value: object) -> float:
    assert isinstance(value, float)  # every cell of the text's campaign has its published figure
    return value
