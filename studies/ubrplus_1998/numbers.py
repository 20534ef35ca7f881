# SPDX-License-Identifier: GPL-2.0-only
"""The numbers in its README's sentences (sentences.toml), from the kept results."""

from collections.abc import Mapping
from statistics import fmean

from analysis.draws import outside_kept
from analysis.kept import Kept
from analysis.report.model import signed
from analysis.report.sentences import Numbers, Source
from analysis.statistics import CONFIDENCE
from analysis.table import Row
from studies.ubrplus_1998.cells import cells_of
from studies.ubrplus_1998.simulation import SETS
from studies.ubrplus_1998.study import CELL, STUDY

TEXT, RFC, OPEN = "ubrplus-www-text", "ubrplus-www-rfc", "ubrplus-www-assumptions"


def end_of_path(kept: Kept) -> Numbers:
    """The end of the path with ten seeds: mean differences to the paper, buffers together."""
    found = {
        (network, flavor): fmean(map(difference, cells))
        for network in CELL["network"]
        for flavor in CELL["flavor"]
        if (cells := _text(kept, "1 s", network=network, flavor=flavor, policy="EPD"))
    }
    others = {place: value for place, value in found.items() if place[1] != "SACK"}
    sack = [value for place, value in found.items() if place[1] == "SACK"]
    least, most = min(others, key=lambda p: others[p]), max(others, key=lambda p: others[p])
    return {
        "least": others[least],
        "least_place": f"{least[1]} in {least[0]}",
        "most": others[most],
        "most_place": f"{most[1]} in {most[0]}",
        "sack_least": min(sack),
        "sack_most": max(sack),
        "seeds": _seeds(_text(kept, "1 s")),
    }


def minimum(kept: Kept) -> Numbers:
    """What the minimum of 1 s does to the WAN cells' distance from the paper, ten seeds."""
    before, after = ({_place(row): row for row in _text(kept, m, network="WAN")}
                     for m in ("2 ticks", "1 s"))  # fmt: skip
    farther = [p for p in before if abs(difference(after[p])) >= abs(difference(before[p]))]
    newreno = ("NewReno", "EPD", "0.5")
    return {
        "cells": len(before),
        "nearer": len(before) - len(farther),
        "farther": len(farther),
        "farther_newreno": sum(flavor == "NewReno" for flavor, *_ in farther),
        "farther_which": " ".join(
            f"For {_named(p)}, it changes from {_signed(before[p])} to {_signed(after[p])}."
            for p in farther
        ),
        "before": fmean(abs(difference(row)) for row in before.values()),
        "after": fmean(abs(difference(row)) for row in after.values()),
        "newreno_farther": abs(difference(after[newreno])) - abs(difference(before[newreno])),
        "seeds": _seeds([*before.values(), *after.values()]),
    }


def idle(kept: Kept) -> Numbers:
    """What the window after idle is worth to NewReno with both minima, in the smallest buffer."""
    cells = {
        row["assumption"]: float(row["efficiency"])
        for row in cells_of(kept, OPEN, network="WAN", flavor="NewReno", policy="EPD", buffer="0.5")
    }
    ticks = cells["idle restart"] - cells["default"]
    second = cells["minimum 1 s and idle restart"] - cells["minimum 1 s"]
    return {"with_2_ticks": ticks, "with_1_s": second, "apart": abs(ticks - second)}


def simulation(kept: Kept) -> Numbers:
    """Cells whose mean difference to the simulation has an interval without 0."""
    text = [row for row in _predicted(kept, TEXT) if row["variant"] == "minimum=2 ticks"]
    rfc = _predicted(kept, RFC)
    means = [float(row["mean_absolute_difference"]) for row in (*text, *rfc)]
    cells = sum(int(row["cells"]) for row in text)
    return {
        "least": min(means),
        "most": max(means),
        "most_text": max(float(row["mean_absolute_difference"]) for row in text),
        "apart": sum(int(row["apart"]) for row in text),
        "apart_later": sum(int(row["apart"]) for row in rfc),
        "cells": cells,
        "chance": (1 - CONFIDENCE) * cells,
        "largest": max(abs(float(row["largest_difference"])) for row in (*text, *rfc)),
        "seeds": _seeds(_text(kept, "2 ticks")),
    }


def draws(kept: Kept) -> Numbers:
    """Published cells that one seed of ours could not have given."""
    known_to = {one.name: one.known_to for one in STUDY.means}
    found: dict[str, int] = {}
    for name, minimum in (("ticks", "2 ticks"), ("second", "1 s")):
        for response, to in known_to.items():
            rows = _text(kept, minimum)
            found["cells"], found[f"{response}_{name}"] = outside_kept(rows, response, to)
    chance = (1 - CONFIDENCE) * found["cells"]
    return {**found, "chance": chance, "seeds": _seeds(_text(kept, "1 s"))}


NUMBERS: Mapping[str, Source] = {
    "end-of-path": end_of_path,
    "minimum": minimum,
    "idle": idle,
    "simulation": simulation,
    "draws": draws,
}


def difference(row: Row) -> float:
    """Measured less published efficiency."""
    return float(row["efficiency_difference"])


def _text(kept: Kept, minimum: str, **levels: str) -> list[Row]:
    return cells_of(kept, TEXT, minimum=minimum, **levels)


def _predicted(kept: Kept, campaign: str) -> list[Row]:
    """How far the simulation is from the kernel; the table also has the model (witnesses.py)."""
    rows = kept.table(campaign, "predictions").rows
    return [row for row in rows if row["response"] == "efficiency" and row["prediction"] in SETS]


def _place(row: Row) -> tuple[str, ...]:
    return row["flavor"], row["policy"], row["buffer"]


def _named(place: tuple[str, ...]) -> str:
    flavor, policy, buffer = place
    return f"{flavor}, {policy}, {buffer} RTT"


def _signed(row: Row) -> str:
    return signed(f"{difference(row):+.3f}")


def _seeds(rows: list[Row]) -> int:
    return min(int(row["seeds"]) for row in rows)
