# SPDX-License-Identifier: GPL-2.0-only
"""What a trial costs beside the same trial in ns-3: the same requests, queue and link.

    python -m tests.bench.cost.ns3 [TURNS] [NETWORK ...]

in the project's environment, with Debian's g++ and libns3-dev. Of each network (WAN and GEO) the
cell SACK, EPD, 1 RTT: `./cellbed run` from command to table, then ns-3, in turn on one core;
TURNS times (5). Counted from outside: processor time, user and system, of all that was begun.
ns-3 has whole packets, no programs and no record, so it is a yardstick and no equal.
"""

from __future__ import annotations

import ctypes
import os
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path

from harness.design import experiment, trials
from plan.plan import Plan
from studies.ubrplus_1998.ns3 import options, program
from tests.bench.cost.profile import EXPERIMENT
from tests.bench.cost.run import NEW, PR_SET_CHILD_SUBREAPER, trial, used_s

NETWORKS = ("WAN", "GEO")
TURNS = 5
Pair = tuple[float, float]


def plan_of(network: str) -> Plan:
    """The plan that tests.bench.cost.run runs in this network."""
    cell = (f"network={network}", "flavor=SACK", "policy=EPD", "buffer=1")
    path = NEW / EXPERIMENT
    return trials.planned(experiment.load(path), Path(EXPERIMENT), cell, seeds=1)[0].plan


def simulated_s(plan: Plan) -> float:
    """Processor time [s] of ns-3 for a plan."""
    schedule, words = list(options.lines(plan)), options.options(plan)
    before = used_s()
    program.run(schedule, words)
    return used_s() - before


def pair(network: str) -> Pair:
    """Processor time [s] of a command of cellbed, and of ns-3."""
    trial.cache_clear()
    return trial(NEW, network, "SACK").cpu_s, simulated_s(plan_of(network))


def line(network: str, pairs: Sequence[Pair]) -> str:
    """A row of the table: medians, and minima and maxima."""
    cells = [spread(of_one) for of_one in zip(*pairs, strict=True)]
    return f"| {network} | {' | '.join(cells)} | {spread([ours / ns3 for ours, ns3 in pairs])} |"


def spread(found: Sequence[float]) -> str:
    return f"{statistics.median(found):.2f} ({min(found):.2f} to {max(found):.2f})"


def main() -> None:
    words = sys.argv[1:]
    turns = int(words.pop(0)) if words and words[0].isdigit() else TURNS
    if unknown := set(words) - set(NETWORKS):
        raise SystemExit(f"{', '.join(unknown)}: no such network; there are {', '.join(NETWORKS)}")
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    simulated_s(plan_of("GEO"))  # the first run also compiles
    found: dict[str, list[Pair]] = {network: [] for network in words or NETWORKS}
    for turn in range(turns):
        for network, pairs in found.items():
            pairs.append(pair(network))
        print(f"turn {turn + 1} of {turns}, load {os.getloadavg()[0]:.0f}", file=sys.stderr)
    print("| network | cellbed, CPU s | ns-3, CPU s | cellbed / ns-3 |\n| --- | --- | --- | --- |")
    print(*(line(network, pairs) for network, pairs in found.items()), sep="\n")


if __name__ == "__main__":
    main()
