# SPDX-License-Identifier: GPL-2.0-only
"""README's table of the two predictions without a kernel: the study's model and the simulation."""

from collections.abc import Callable, Mapping
from statistics import fmean

from analysis.kept import Kept
from analysis.report.model import Sheet, Value, plain
from studies.ubrplus_1998.cells import RESPONSES
from studies.ubrplus_1998.simulation import modelled, simulated
from studies.ubrplus_1998.study import CELL

CELLS_OF = {
    "WAN": ("531", "1062", "2300"),
    "MEO": ("10615", "21230", "42460"),
    "GEO": ("29190", "58380", "116760"),
}
"""The three buffers of a network in cells (98-0876R1, table 3)."""


def model(kept: Kept) -> Sheet:
    """The model less the simulation, the text's senders with 2 ticks, trial by trial."""
    del kept
    rows: list[list[Value]] = []
    for network in CELL["network"]:
        pairs = _pairs(network)
        rows.append([network, len(pairs)])
        for response in RESPONSES:
            off = [mine[response] - theirs[response] for mine, theirs in pairs]
            rows[-1] += [fmean(map(abs, off)), fmean(off), max(off, key=abs)]
    heads = [
        head
        for response in RESPONSES
        for head in ((f"{response}: mean absolute", ".3f"), ("mean", "+.3f"), ("largest", "+.3f"))
    ]
    return plain(rows, "network", ("trials", "d"), *heads)


def _pairs(network: str) -> list[tuple[Mapping[str, float], Mapping[str, float]]]:
    """Model and simulation of each trial that both have."""
    cells = dict(zip(CELL["buffer"], CELLS_OF[network], strict=True))
    found: list[tuple[Mapping[str, float], Mapping[str, float]]] = []
    for (of, flavor, policy, buffer, minimum, seed), mine in modelled().items():
        theirs = simulated().get(("literal", of, policy, flavor, cells.get(buffer, ""), seed))
        if of == network and minimum == "2 ticks" and theirs is not None:
            found.append((mine, theirs))
    return found


TABLES: Mapping[str, Callable[[Kept], Sheet]] = {"model": model}
