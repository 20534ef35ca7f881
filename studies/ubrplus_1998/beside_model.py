# SPDX-License-Identifier: GPL-2.0-only
"""README's table of the kernel's trials beside the study's model: the senders of the text, 2 ticks.

A cell's difference is the mean over the seeds that both have. Trials of a seed carry the same
requests, so the difference is paired by seed.
"""

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean

from analysis.kept import Kept
from analysis.report.model import Sheet, Value, plain
from analysis.report.sentences import Numbers
from analysis.statistics import CONFIDENCE, Estimate, estimate
from studies.ubrplus_1998.apart import CAMPAIGN, kernel
from studies.ubrplus_1998.cells import RESPONSES, cells_of, heads
from studies.ubrplus_1998.simulation import modelled
from studies.ubrplus_1998.study import CELL

MINIMUM = "2 ticks"


def differences(kept: Kept, response: str, network: str) -> list[Estimate]:
    """The kernel less the model, for each cell of a network that both have."""
    trials = kernel(kept)
    found: dict[tuple[str, ...], list[float]] = {}
    for key, model in modelled().items():
        if key[0] == network and key[4] == MINIMUM and key in trials:
            found.setdefault(key[:5], []).append(trials[key][response] - model[response])
    return [estimate(off) for off in found.values()]


def excludes_0(one: Estimate) -> bool:
    """Whether its interval does; one seed has no interval."""
    return one.low is not None and one.high is not None and not one.low <= 0 <= one.high


def sheet(kept: Kept) -> Sheet:
    """How far the kernel's cells are from the model's, by network."""
    rows: list[list[Value]] = []
    for network in CELL["network"]:
        row: list[Value] = [network]
        for response in RESPONSES:
            cells = differences(kept, response, network)
            if len(row) == 1:
                row += [len(cells), _seeds(cells)]
            row += [*_distance(cells), sum(map(excludes_0, cells))]
        rows.append(row)
    columns = heads(
        ("mean absolute", ".3f"),
        ("mean", "+.3f"),
        ("largest", "+.3f"),
        ("intervals without 0", "d"),
    )
    return plain(rows, "network", ("combinations", "d"), "seeds", *columns)


def _seeds(cells: Sequence[Estimate]) -> str:
    """As "2", or as "1 to 2"."""
    counts = [one.n for one in cells]
    return " to ".join(dict.fromkeys(map(str, (min(counts), max(counts)))))


def _distance(cells: Sequence[Estimate]) -> list[Value]:
    means = [one.mean for one in cells]
    return [fmean(map(abs, means)), fmean(means), max(means, key=abs)]


def away(kept: Kept) -> Numbers:
    """The mean distance of the kernel's efficiency from the model's and from the paper's.

    part: the largest ratio of the first to the second.
    """
    found: dict[str, float] = {}
    for network in CELL["network"]:
        cells = differences(kept, "efficiency", network)
        found[f"{network}_model"] = fmean(abs(one.mean) for one in cells)
        rows = cells_of(kept, CAMPAIGN, minimum=MINIMUM, network=network)
        found[f"{network}_paper"] = fmean(abs(float(row["efficiency_difference"])) for row in rows)
    parts = [found[f"{name}_model"] / found[f"{name}_paper"] for name in CELL["network"]]
    return {**found, "part": max(parts)}


def numbers(kept: Kept) -> Numbers:
    """The intervals without 0 in all networks, and the seeds of each network's cells."""
    found: dict[str, float | int | str] = {}
    for response in RESPONSES:
        cells: list[Estimate] = []
        for network in CELL["network"]:
            some = differences(kept, response, network)
            found[network] = _seeds(some)
            cells += some
        found |= {f"{response}_apart": sum(map(excludes_0, cells)), "cells": len(cells)}
        found["several"] = sum(one.n > 1 for one in cells)
        found["chance"] = (1 - CONFIDENCE) * sum(one.n > 1 for one in cells)
    return found


TABLES: Mapping[str, Callable[[Kept], Sheet]] = {"kernel-model": sheet}
