# SPDX-License-Identifier: GPL-2.0-only
"""The model's trials whose clients do not ask at once: each asks a little after the one before it.

`python -m tests.apart` computes the trials of REQUESTS that predicted/apart.csv does not have. The
file has a line for each trial. The README's sentences take their numbers from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from statistics import fmean

from analysis.kept import Kept
from analysis.kept_trials import FILE as TRIALS
from analysis.kept_trials import read as read_trials
from analysis.report.sentences import Numbers
from analysis.table import read_csv
from studies.ubrplus_1998.cells import RESPONSES
from studies.ubrplus_1998.simulation import FILE as SIMULATION
from studies.ubrplus_1998.simulation import simulated
from studies.ubrplus_1998.witnesses import CELLS_OF

FOLDER = Path(__file__).parent
KEPT_FILE = SIMULATION.with_name("apart.csv")
EXPERIMENT, CAMPAIGN = FOLDER / "ubrplus-www-text.toml", "ubrplus-www-text"
FACTORS = ("network", "flavor", "policy", "buffer", "minimum")
COLUMNS = (*FACTORS, "seed", "apart_ns", *RESPONSES)
WHOLE_NS = 37_689
"""A request of 4 cells takes this time on 45 Mbit/s."""
REQUESTS = ("MEO", "NewReno", "SD", "0.5", "2 ticks")
SEEDS, TIMES_NS = 10, (0, WHOLE_NS)
"""Of REQUESTS, and the times between two requests."""
Trial = tuple[str, ...]


def requests(kept: Kept) -> Numbers:
    """The fairness of REQUESTS: the model with both times between requests, and the others."""
    model, trials = kept_lines(KEPT_FILE), kernel(kept)
    seeds = sorted({key[5] for key in model if key[:5] == REQUESTS}, key=int)
    cells = CELLS_OF["MEO"][0]
    groups: dict[str, list[Mapping[str, float]]] = {
        "once": [model[*REQUESTS, seed, "0"] for seed in seeds],
        "one": [model[*REQUESTS, seed, str(WHOLE_NS)] for seed in seeds],
        "kernel": [trials[*REQUESTS, seed] for seed in seeds],
        "theirs": [simulated()["literal", "MEO", "SD", "NewReno", cells, seed] for seed in seeds],
    }
    found: dict[str, float] = {"seeds": len(seeds)}
    for name, group in groups.items():
        fair = [one["fairness"] for one in group]
        found |= {name: fmean(fair), f"{name}_least": min(fair), f"{name}_most": max(fair)}
    return found


@cache
def kept_lines(path: Path) -> Mapping[Trial, Mapping[str, float]]:
    """Levels, seed and time between two requests -> responses."""
    return {
        tuple(row[name] for name in COLUMNS[:7]): {name: float(row[name]) for name in RESPONSES}
        for row in read_csv(path).rows
    }


def kernel(kept: Kept) -> Mapping[Trial, Mapping[str, float]]:
    """Levels and seed -> responses of the kernel's kept trials."""
    return {
        (*(one.levels[name] for name in FACTORS), str(one.seed)): {
            name: float(one.metrics[name] or 0.0) for name in RESPONSES
        }
        for one in read_trials(kept.folder / CAMPAIGN / TRIALS)
    }
