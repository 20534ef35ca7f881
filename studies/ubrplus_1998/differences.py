# SPDX-License-Identifier: GPL-2.0-only
"""Where kernel, model and simulation differ: the README's numbers, from kept trials alone."""

from collections.abc import Callable, Mapping
from statistics import fmean, stdev

from analysis.kept import Kept
from analysis.kept_trials import FILE as TRIALS
from analysis.kept_trials import read as read_trials
from analysis.report.model import Sheet, Value, plain
from analysis.report.sentences import Numbers, Source
from analysis.statistics import estimate
from studies.ubrplus_1998.apart import kernel, requests
from studies.ubrplus_1998.cells import cells_of
from studies.ubrplus_1998.numbers import RFC, TEXT
from studies.ubrplus_1998.simulation import modelled, simulated
from studies.ubrplus_1998.study import CELL
from studies.ubrplus_1998.witnesses import CELLS_OF

SENSITIVE = ("WAN", "SACK", "SD", "0.5", "1 s")
SACK_MEO = ("MEO", "SACK", "EPD", "2", "2 ticks")
HEADER_BYTES, MEASURED_S = 118, 100
OPEN = "ubrplus-www-rfc-assumptions"
CONDITIONS = {
    "default": "as the experiment has it",
    "full segments": "windows in whole segments",
    "short segments again": "what is sent again keeps its boundaries",
    "kernel timer": "the kernel's own RTO and timer",
}


def later(kept: Kept) -> Numbers:
    """The senders of the later RFCs in MEO: kernel less simulation, a mean for each cell."""
    off: dict[tuple[str, ...], list[float]] = {}
    buffers = dict(zip(CELL["buffer"], CELLS_OF["MEO"], strict=True))
    for one in read_trials(kept.folder / RFC / TRIALS):
        flavor, policy, buffer = (one.levels[name] for name in ("flavor", "policy", "buffer"))
        if one.levels["network"] == "MEO":
            theirs = simulated()["today", "MEO", policy, flavor, buffers[buffer], str(one.seed)]
            more = float(one.metrics["efficiency"]) - theirs["efficiency"]
            off.setdefault((flavor, policy, buffer), []).append(more)
    means = [fmean(values) for values in off.values()]
    return {
        "cells": len(means),
        "above": sum(mean > 0 for mean in means),
        "mean": fmean(means),
        "seeds": min(map(len, off.values())),
    }


def sensitive(kept: Kept) -> Numbers:
    """Kernel less model in the cell that seemed to differ, paired by the model's seeds."""
    rows = _sensitive(kept)
    off = estimate([kernels - models for _, kernels, models in rows])
    all_seeds = estimate(
        [one["efficiency"] for key, one in kernel(kept).items() if key[:5] == SENSITIVE]
    )
    models = [model for *_, model in rows]
    return {
        "seeds": off.n,
        "off": off.mean,
        "half": off.half_width,
        "beyond": abs(off.mean) - (off.half_width or 0.0),
        "all_seeds": all_seeds.n,
        "kernel": all_seeds.mean,
        "kernel_half": all_seeds.half_width,
        "model": fmean(models),
        "model_least": min(models),
        "model_most": max(models),
    }


def sensitive_table(kept: Kept) -> Sheet:
    """Both, seed by seed."""
    rows: list[list[Value]] = [list(row) for row in _sensitive(kept)]
    return plain(rows, "seed", ("kernel", ".3f"), ("model", ".3f"))


def sack_meo(kept: Kept) -> Numbers:
    """SACK in MEO: model and kernel less simulation, in the seeds that the model has."""
    seeds = [key[5] for key in modelled() if key[:5] == SACK_MEO]
    cells = CELLS_OF["MEO"][2]
    theirs = [simulated()["literal", "MEO", "EPD", "SACK", cells, s]["efficiency"] for s in seeds]
    ours = [modelled()[*SACK_MEO, seed]["efficiency"] for seed in seeds]
    kernels = [kernel(kept)[*SACK_MEO, seed]["efficiency"] for seed in seeds]
    return {
        "seeds": len(seeds),
        "model": fmean(ours) - fmean(theirs),
        "kernel": fmean(kernels) - fmean(theirs),
    }


def header(kept: Kept) -> Numbers:
    """nginx's headers of the answers, as a part of the link."""
    parts = [
        float(row["answered"]) * HEADER_BYTES * 8 / MEASURED_S / float(row["capacity_bit_per_s"])
        for row in cells_of(kept, TEXT)
    ]
    return {"bytes": HEADER_BYTES, "least": min(parts), "most": max(parts)}


def conditions(kept: Kept) -> Sheet:
    """WAN, 1 RTT, EPD: the paper, the later RFCs' senders, and each of three changes alone."""
    rows: list[list[Value]] = [["paper", *_of(kept, "default", "efficiency_published").values()]]
    rows += [[text, *_of(kept, level).values()] for level, text in CONDITIONS.items()]
    for row, flavors in zip(rows, _orders(kept), strict=True):
        row.append(", ".join(flavors))
    return plain(rows, "", *((flavor, ".3f") for flavor in CELL["flavor"]), "from low to high")


def order(kept: Kept) -> Numbers:
    """Which changes alone end the paper's order, and what the kernel's timer costs SACK."""
    paper, default, *changed = _orders(kept)
    names = [text for level, text in CONDITIONS.items() if level != "default"]
    ending = [name for name, flavors in zip(names, changed, strict=True) if flavors != paper]
    values = {level: _of(kept, level) for level in CONDITIONS}
    timer = [
        values["kernel timer"][flavor] - values["default"][flavor] for flavor in CELL["flavor"]
    ]
    whole, again, own = (values[level] for level in CONDITIONS if level != "default")
    deviations, seeds = _deviations(kept)
    small = {
        row["assumption"]: float(row["efficiency"])
        for row in cells_of(kept, OPEN, network="WAN", flavor="SACK", policy="EPD", buffer="0.5")
    }
    return {
        "changes": len(changed),
        "same": int(default == paper),
        "ending": len(ending),
        "which": " and ".join(ending),
        "kept_apart": again["SACK"] - again["NewReno"],
        "timer_apart": own["NewReno"] - own["Reno"],
        "deviation_least": min(deviations),
        "deviation_most": max(deviations),
        "seeds": seeds,
        "sack_below": whole["Reno"] - whole["SACK"],
        "sack_less": whole["SACK"] - whole["Reno"],
        "timer_least": min(timer),
        "timer_most": max(timer),
        "sack_small": small["default"],
        "sack_timer": small["kernel timer"],
    }


def _deviations(kept: Kept) -> tuple[list[float], int]:
    """Each flavor's standard deviation of one seed with the same senders, and the seeds."""
    by_flavor: dict[str, list[float]] = {}
    for one in read_trials(kept.folder / RFC / TRIALS):
        if PLACE.items() <= one.levels.items():
            by_flavor.setdefault(one.levels["flavor"], []).append(float(one.metrics["efficiency"]))
    return [*map(stdev, by_flavor.values())], min(map(len, by_flavor.values()))


PLACE = {"network": "WAN", "policy": "EPD", "buffer": "1"}
"""Of the conditions."""


def _sensitive(kept: Kept) -> list[tuple[str, float, float]]:
    """Seed, kernel's and model's efficiency in SENSITIVE."""
    return [
        (key[5], kernel(kept)[key]["efficiency"], model["efficiency"])
        for key, model in modelled().items()
        if key[:5] == SENSITIVE
    ]


def _of(kept: Kept, level: str, column: str = "efficiency") -> dict[str, float]:
    """Flavor -> its figure with 1 RTT."""
    rows = cells_of(kept, OPEN, network="WAN", policy="EPD", buffer="1", assumption=level)
    found = {row["flavor"]: float(row[column]) for row in rows}
    return {flavor: found[flavor] for flavor in CELL["flavor"]}


def _orders(kept: Kept) -> list[list[str]]:
    """The flavors from low to high: in the paper, and at each level of CONDITIONS."""
    lines = [_of(kept, "default", "efficiency_published")]
    lines += [_of(kept, level) for level in CONDITIONS]
    return [sorted(line, key=line.__getitem__) for line in lines]


TABLES: Mapping[str, Callable[[Kept], Sheet]] = {
    "sensitive": sensitive_table,
    "conditions": conditions,
}
NUMBERS: Mapping[str, Source] = {
    "later": later,
    "sensitive": sensitive,
    "sack-meo": sack_meo,
    "header": header,
    "requests": requests,
    "order": order,
}
