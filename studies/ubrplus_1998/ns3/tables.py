# SPDX-License-Identifier: GPL-2.0-only
"""The README's table and sentences of ns-3 beside the kernel and the simulation of cells.

ns-3 and the simulation have the same seeds; the kernel's mean is over all that its cell has.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from statistics import fmean

from analysis.kept import Kept, number
from analysis.report.model import Sheet, Value, plain
from analysis.report.sentences import Numbers
from analysis.table import Row
from studies.ubrplus_1998.cells import RESPONSES
from studies.ubrplus_1998.ns3.witness import WITNESS
from studies.ubrplus_1998.simulation import simulated
from studies.ubrplus_1998.study import CELL
from studies.ubrplus_1998.witnesses import CELLS_OF

CAMPAIGN, SET = WITNESS.experiments[0], "today"


@dataclass(frozen=True)
class Place:
    """One cell of the design: the lines of ns-3, and the kernel's cell."""

    levels: Mapping[str, str]
    lines: list[Row]
    kernel: Row

    def witness(self, column: str) -> float:
        """The mean of ns-3."""
        return fmean(float(row[column]) for row in self.lines)

    def simulation(self, response: str) -> float:
        """The mean of the simulation, of the same seeds."""
        network, flavor, policy, buffer = self.levels.values()
        cells = dict(zip(CELL["buffer"], CELLS_OF[network], strict=True))[buffer]
        keys = [(SET, network, policy, flavor, cells, row["seed"]) for row in self.lines]
        return fmean(simulated()[key][response] for key in keys)


def places(kept: Kept) -> Iterator[Place]:
    """All that ns-3 has run."""
    lines = kept.table(CAMPAIGN, WITNESS.name).rows
    for kernel in kept.cells(CAMPAIGN).rows:
        levels = {factor: kernel[factor] for factor in CELL}
        found = [row for row in lines if levels.items() <= row.items()]
        if found:
            yield Place(levels, found, kernel)


def ns_3(kept: Kept) -> Sheet:
    """Both responses of all three, and the timeouts of two."""
    rows: list[list[Value]] = []
    for place in places(kept):
        rows.append([*place.levels.values(), len(place.lines)])
        for response in RESPONSES:
            both = place.witness(response), place.simulation(response)
            rows[-1] += [*both, number(place.kernel, response)]
        rows[-1] += [place.witness("timeouts"), number(place.kernel, "timeouts")]
    programs = ("ns-3", "simulation", "kernel")
    figures = [(f"{name}, {program}", ".3f") for name in RESPONSES for program in programs]
    timeouts = [(f"timeouts, {program}", ",.0f") for program in ("ns-3", "kernel")]
    return plain(rows, *CELL, ("seeds", "d"), *figures, *timeouts)


def numbers(kept: Kept) -> Numbers:
    """ns-3's mean efficiency less the kernel's, by flavor; the order of the two flavors."""
    everywhere = list(places(kept))
    by_flavor = {
        flavor: [place for place in everywhere if place.levels["flavor"] == flavor]
        for flavor in ("NewReno", "SACK")
    }
    found: dict[str, float] = {}
    for flavor, some in by_flavor.items():
        off = [place.witness("efficiency") - float(place.kernel["efficiency"]) for place in some]
        found[f"{flavor.lower()}_least"], found[f"{flavor.lower()}_most"] = min(off), max(off)
    above = [
        sack.witness("efficiency") > newreno.witness("efficiency")
        and float(sack.kernel["efficiency"]) > float(newreno.kernel["efficiency"])
        for newreno, sack in zip(*by_flavor.values(), strict=True)
    ]
    return {
        "same_order": int(all(above)),
        **found,
        "places": len(everywhere),
        "seeds": min(len(place.lines) for place in everywhere),
        "more_timeouts": sum(
            place.witness("timeouts") > float(place.kernel["timeouts"]) for place in everywhere
        ),
    }
