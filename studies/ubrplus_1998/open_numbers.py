# SPDX-License-Identifier: GPL-2.0-only
"""The numbers in its README's sentences on the campaigns of one seed: the path, the open points."""

import math
from collections.abc import Mapping, Sequence
from statistics import fmean

from analysis.kept import Kept
from analysis.report.model import listed, signed
from analysis.report.sentences import Numbers, Source
from analysis.statistics import CONFIDENCE
from analysis.table import Row
from studies.ubrplus_1998.cells import apart, cells_of, distance
from studies.ubrplus_1998.open_points import DEFAULT, STEPS, by_chance, step_changes
from studies.ubrplus_1998.simulation import simulated
from studies.ubrplus_1998.study import CELL
from studies.ubrplus_1998.witnesses import CELLS_OF

OPEN, TEXT = "ubrplus-www-assumptions", "ubrplus-www-text"
WAN = {"network": "WAN", "policy": "EPD", "buffer": "0.5"}
LONG = ("MEO", "GEO")
Place = tuple[str, str]
"""Network and flavor."""


def path(kept: Kept) -> Numbers:
    """The changes beyond chance of the steps in NAMED; each is the mean over three buffers."""
    found: dict[str, float | str] = {}
    large = _beyond_chance(kept)
    for name, step in NAMED.items():
        found[f"{name}_large"] = len(large[step])
        found[f"{name}_which"] = listed(
            [
                f"{signed(f'{x:+.3f}')} ({flavor} in {net})"
                for (net, flavor), x in large[step].items()
            ]
            or ["nothing"]
        )
    found["minimum_long_large"] = sum(net in LONG for net, _ in large["minimum 1 s"])
    return found


NAMED = {
    "cut": "cut anew",
    "minimum": "minimum 1 s",
    "partial": "partial ACK resets",
    "flywheel": "flywheel",
    "pipe": "PIPE in segments",
}
"""Steps that the README names -> how their numbers begin."""


def _beyond_chance(kept: Kept) -> dict[str, dict[Place, float]]:
    """Step -> its changes that are larger than two seeds of the same senders may lie apart."""
    chance = by_chance(kept)
    return {
        step: {place: x for place, x in some.items() if abs(x) > chance[place]}
        for step, some in step_changes(kept).items()
    }


def path_chance(kept: Kept) -> Numbers:
    """How many steps are larger than two single seeds of the same senders may lie apart."""
    changes = sum(bool(value) for some in step_changes(kept).values() for value in some.values())
    large = _beyond_chance(kept)
    return {
        "seeds": min(int(row["seeds"]) for row in cells_of(kept, TEXT)),
        **_ends("chance", list(by_chance(kept).values())),
        "changes": changes,
        "large": sum(map(len, large.values())),
        "expected": (1 - CONFIDENCE) * changes,
        "which": " ".join(
            f'With "{STEPS[step]}", it is {listed(f"{flavor} in {net}" for net, flavor in places)}.'
            for step, places in large.items()
            if places
        ),
    }


def one_seed(kept: Kept) -> Numbers:
    """How far one seed may lie from the mean of the cells of the first table of open points."""
    cells = cells_of(kept, TEXT, minimum="2 ticks", **WAN)
    long = [
        row
        for row in cells_of(kept, TEXT, minimum="2 ticks", policy="EPD", buffer="0.5")
        if row["network"] in LONG and row["flavor"] in ("Reno", "SACK")
    ]
    halves = {row["flavor"]: _one_draw(row, "efficiency") for row in cells}
    least, most = min(halves, key=lambda f: halves[f]), max(halves, key=lambda f: halves[f])
    return {
        "least": halves[least],
        "least_flavor": least,
        "most": halves[most],
        "most_flavor": most,
        "fairness": max(_one_draw(row, "fairness") for row in cells),
        "seeds": min(int(row["seeds"]) for row in cells),
        "change_least": min(apart(row, "efficiency") for row in cells),
        "change_most": max(apart(row, "efficiency") for row in cells),
        "change_fairness": max(apart(row, "fairness") for row in cells),
        **_ends("long_change", [apart(row, "efficiency") for row in long]),
        "long_fairness": max(apart(row, "fairness") for row in long),
    }


def open_wan(kept: Kept) -> Numbers:
    """WAN: which assumption brings the cells nearest, and what three of them change."""
    levels = dict.fromkeys(row["assumption"] for row in cells_of(kept, OPEN, network="WAN"))
    cells = {level: cells_of(kept, OPEN, network="WAN", assumption=level) for level in levels}
    away = {
        level: x
        for level, some in cells.items()
        if len(some) == 8 and isinstance(x := distance(some, "efficiency")[0], float)
    }
    nearest = min(away, key=lambda level: away[level])
    first, back = (_changes(kept, level) for level in ("first RTO 6 s", "small return buffer"))
    others = [value for flavor, value in first.items() if flavor != "SACK"]
    return {
        "nearest_is_minimum": int(nearest == "minimum 1 s"),
        "away": away[DEFAULT],
        "away_nearest": away[nearest],
        "away_back": away["small return buffer"],
        **_return_queue(kept),
        **_ten_seeds(kept, set(map(_at, cells[DEFAULT]))),
        "away_starts": away["jittered starts"],
        **_ends("fair", _fairness(kept, DEFAULT)),
        **_ends("fair_starts", _fairness(kept, "jittered starts")),
        "newreno_starts": _changes(kept, "jittered starts")["NewReno"],
        "first_sack": first["SACK"],
        **_ends("first", others),
        **_bounds("back", {(WAN["network"], flavor): x for flavor, x in back.items()}),
    }


def sack(kept: Kept) -> Numbers:
    """SACK's cells of the long paths less the simulation, and how many other cells are above."""
    above: dict[tuple[str, str], list[float]] = {}
    for row in cells_of(kept, TEXT, minimum="2 ticks"):
        above.setdefault((row["network"], row["flavor"]), []).append(_off(row))
    ours = {net: above[net, "SACK"] for net in LONG}
    return {
        "least": min(map(min, ours.values())),
        **{f"mean_{net.lower()}": fmean(values) for net, values in ours.items()},
        "whole_others": sum(
            all(x > 0 for x in values)
            for (net, flavor), values in above.items()
            if net in LONG and flavor != "SACK"
        ),
    }


NUMBERS: Mapping[str, Source] = {
    "path": path,
    "path-chance": path_chance,
    "one-seed": one_seed,
    "open-wan": open_wan,
    "sack-simulation": sack,
}
ENDS = {"least": min, "most": max}


def _ends(name: str, values: Sequence[float]) -> dict[str, float]:
    return {f"{name}_{end}": of(values) for end, of in ENDS.items()}


def _bounds(name: str, values: Mapping[tuple[str, str], float]) -> dict[str, float | str]:
    """The least and the largest of some places, and where they are."""
    places = {end: of(values, key=lambda place: values[place]) for end, of in ENDS.items()}
    found: dict[str, float | str] = {}
    for end, (network, flavor) in places.items():
        found[f"{name}_{end}"] = values[network, flavor]
        found[f"{name}_{end}_place"] = f"{flavor} in {network}"
        found[f"{name}_{end}_flavor"] = flavor
    return found


def _one_draw(row: Row, response: str) -> float:
    """Half of the 95 % prediction interval of one draw (analysis/draws.py)."""
    return float(row[f"{response}_half_width"]) * math.sqrt(int(row["seeds"]) + 1)


def _return_queue(kept: Kept) -> dict[str, int]:
    """Cells with a small return queue: all, those of Vanilla at 0, and those that come nearer."""
    base, after = (
        {
            (row["flavor"], row["buffer"]): row
            for row in cells_of(kept, OPEN, network="WAN", assumption=a)
        }
        for a in (DEFAULT, "small return buffer")
    )
    dead = [place for place, row in after.items() if float(row["efficiency"]) < 0.0005]
    away = {
        place: [abs(float(of[place]["efficiency_difference"])) for of in (base, after)]
        for place in after
    }
    return {
        "back_cells": len(after),
        "back_dead": sum(flavor == "Vanilla" for flavor, _ in dead),
        "back_nearer": sum(second < first for first, second in away.values()),
    }


def _ten_seeds(kept: Kept, places: set[tuple[str, str, str]]) -> dict[str, float]:
    """The mean distance of the same WAN cells with both minima, of the campaign of more seeds."""
    found: dict[str, float] = {}
    for name, minimum in (("before", "2 ticks"), ("after", "1 s")):
        rows = [r for r in cells_of(kept, TEXT, minimum=minimum, network="WAN") if _at(r) in places]
        found[f"ten_{name}"] = fmean(abs(float(row["efficiency_difference"])) for row in rows)
        found["ten_seeds"] = min(int(row["seeds"]) for row in rows)
    return found


def _at(row: Row) -> tuple[str, str, str]:
    return row["flavor"], row["policy"], row["buffer"]


def _changes(kept: Kept, level: str) -> dict[str, float]:
    """By flavor, in the cells of the first table of open points."""
    base, after = (
        {
            row["flavor"]: float(row["efficiency"])
            for row in cells_of(kept, OPEN, assumption=one, **WAN)
        }
        for one in (DEFAULT, level)
    )
    return {flavor: after[flavor] - base[flavor] for flavor in after}


def _fairness(kept: Kept, level: str) -> list[float]:
    return [float(row["fairness"]) for row in cells_of(kept, OPEN, assumption=level, **WAN)]


def _off(row: Row) -> float:
    """A cell's mean efficiency less the simulation's, over as many seeds."""
    network, flavor, policy, buffer = (row[name] for name in CELL)
    cells = dict(zip(CELL["buffer"], CELLS_OF[network], strict=True))[buffer]
    seeds = range(1, int(row["seeds"]) + 1)
    theirs = [simulated()["literal", network, policy, flavor, cells, str(x)] for x in seeds]
    return float(row["efficiency"]) - fmean(one["efficiency"] for one in theirs)
