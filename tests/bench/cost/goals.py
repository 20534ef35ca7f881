# SPDX-License-Identifier: GPL-2.0-only
"""The table of goals in docs/performance.md: what this machine needs for each.

    python -m tests.bench.cost.goals [--turns N] [ROW ...]

in the project's environment, after `./cellbed setup`. `wan` and `geo` also need Debian's g++ and
libns3-dev. Each row is the median of N turns (five), with the smallest and the largest. Without
ROWs, all rows but `cells`, `thousand`, `thousand-start` and `web`, which take minutes a turn. A
quiet machine is yours to provide: the load before each turn is printed.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import statistics
import sys
from collections.abc import Callable
from dataclasses import dataclass

from tests.bench.cost import ns3
from tests.bench.cost.run import NEW, PR_SET_CHILD_SUBREAPER, Cost, command, experiment, only, trial

THOUSAND = "tests/bench/cost/thousand.toml"
WEB, WEB_CELL = "studies/web_2003/web.toml", ("load=80", "sender=SACK", "queue=drop-tail")


@dataclass(frozen=True)
class Goal:
    """A row: what is measured, the goal, and how; both in `unit`."""

    what: str
    unit: str
    goal: float
    measure: Callable[[], float]


def ratio(network: str) -> float:
    """Processor time of a trial, command to table, over ns-3's."""
    ours, theirs = ns3.pair(network)
    return ours / theirs


def thousand() -> Cost:
    """A trial of 1,000 pairs."""
    return command(NEW, "run", THOUSAND, "--jobs", "1")


def web() -> Cost:
    """A whole cell of the web study."""
    return command(NEW, "run", WEB, *only(WEB_CELL), "--seeds", "1", "--jobs", "1")


def pingall() -> Cost:
    """Mininet's own example of a tree of switches."""
    return command(NEW, "mn", "--topo", "tree,3", "--test", "pingall")


def cells() -> Cost:
    """One seed of 98-0876R1 on all cores."""
    return command(NEW, "run", experiment(NEW), "--seeds", "1")


GOALS = {
    "geo": Goal("one GEO trial, command to table, over ns-3", "", 0.6, lambda: ratio("GEO")),
    "wan": Goal("one WAN trial, command to table, over ns-3", "", 0.25, lambda: ratio("WAN")),
    "cells": Goal("72 trials, one seed, two cores, wall", "s", 110, lambda: cells().wall_s),
    "start": Goal("command to the first virtual second, 100 pairs, wall", "s", 1.5,
                  lambda: trial(NEW, "GEO", "SACK").first_second_s),
    "thousand": Goal("1,000 pairs at 622 Mbit/s", "CPU s", 45, lambda: thousand().cpu_s),
    "thousand-start": Goal("the same, to the first virtual second, wall", "s", 20,
                           lambda: thousand().first_second_s),
    "mn": Goal("`./cellbed mn --topo tree,3 --test pingall`, wall", "s", 6,
               lambda: pingall().wall_s),
    "web": Goal("web trial of 250,000 exchanges", "CPU s", 60, lambda: web().cpu_s),
    "memory": Goal("memory of a WAN run", "MiB", 300, lambda: trial(NEW, "WAN", "SACK").memory_mib),
}  # fmt: skip
LONG = ("cells", "thousand", "thousand-start", "web")
# On one core, as ns-3: the two of a ratio must have the same.
ON_ONE_CORE = ("geo", "wan")


def measured(name: str, turns: int) -> list[float]:
    """A row's figure, once a turn."""
    if name in ON_ONE_CORE:
        ns3.simulated_s(ns3.plan_of(name.upper()))  # the first run also compiles
    found = []
    every = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(every)} if name in ON_ONE_CORE else every)
    for turn in range(turns):
        load = os.getloadavg()[0]
        trial.cache_clear()
        found.append(GOALS[name].measure())
        print(f"{name}, turn {turn + 1} of {turns}, load {load:.0f}: {found[-1]:.2f}",
              file=sys.stderr, flush=True)  # fmt: skip
    os.sched_setaffinity(0, every)
    return found


def line(goal: Goal, found: list[float]) -> str:
    """A row of the table."""
    cells = f"{statistics.median(found):.2f} ({min(found):.2f} to {max(found):.2f})"
    return f"| {goal.what} | {f'{goal.goal:g} {goal.unit}'.strip()} | {cells} | {len(found)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("rows", nargs="*", metavar="ROW", help=", ".join(GOALS))
    parser.add_argument("--turns", type=int, default=5, help="runs of each row [5]")
    given = parser.parse_intermixed_args()
    if unknown := set(given.rows) - set(GOALS):
        parser.error(f"{', '.join(unknown)}: no such row; there are {', '.join(GOALS)}")
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    names = given.rows or [name for name in GOALS if name not in LONG]
    rows = [line(GOALS[name], measured(name, given.turns)) for name in names]
    print("| what | goal | median (least to most) | turns |\n| --- | --- | --- | --- |")
    print(*rows, sep="\n")


if __name__ == "__main__":
    main()
