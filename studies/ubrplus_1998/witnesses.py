# SPDX-License-Identifier: GPL-2.0-only
"""README's table of the two predictions without a kernel: the study's model and the simulation."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean

from analysis.kept import Kept
from analysis.report.model import Sheet, Value, plain
from analysis.report.sentences import Numbers
from studies.ubrplus_1998.cells import RESPONSES
from studies.ubrplus_1998.simulation import SETS, modelled, simulated
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


def kept_seeds(kept: Kept) -> Numbers:
    """How many cells the model has with 2 ticks, and how many seeds a cell of a network has."""
    del kept
    seeds: dict[str, Counter[tuple[str, ...]]] = {name: Counter() for name in CELL["network"]}
    for network, *cell, minimum, _ in modelled():
        if minimum == "2 ticks":
            seeds[network][tuple(cell)] += 1
    return {
        "cells": sum(map(len, seeds.values())),
        "all": len(simulated()) // (len(SETS) * len(_simulated_seeds())),
        "seeds": len(_simulated_seeds()),
        **{name: _range(list(of.values())) for name, of in seeds.items()},
    }


def _simulated_seeds() -> set[str]:
    return {seed for *_, seed in simulated()}


def _range(counts: Sequence[int]) -> str:
    """As "2", or as "1 to 2"."""
    return " to ".join(dict.fromkeys(map(str, (min(counts, default=0), max(counts, default=0)))))


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
