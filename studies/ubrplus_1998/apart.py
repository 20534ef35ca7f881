# SPDX-License-Identifier: GPL-2.0-only
"""The model's trials whose clients do not ask at once: each asks a little after the one before it.

`python -m studies.ubrplus_1998.apart` computes the trials of REQUESTS that predicted/apart.csv does
not have. The file has a line for each trial, as predicted/model.csv has for clients that ask at
once. The README's sentences take their numbers from both files.
"""

from __future__ import annotations

import csv
import tempfile
from collections.abc import Iterator, Mapping, Sequence
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


def compute(out: Path) -> Iterator[str]:
    """Append the trials that a file does not have; each line as it is written."""
    from harness.design import experiment
    from harness.design.trials import planned
    from studies.ubrplus_1998.model.network import Network
    from topology import libcellq

    design = experiment.load(EXPERIMENT)
    there = set(_kept(out)) if out.exists() else set[Trial]()
    only = tuple(f"{name}={level}" for name, level in zip(FACTORS, REQUESTS, strict=True))
    with tempfile.TemporaryDirectory(prefix="cellbed-model-") as folder:
        library = libcellq.build(Path(folder))
        for trial in planned(design, EXPERIMENT, only, SEEDS):
            for apart_ns in TIMES_NS:
                key = (*REQUESTS, str(trial.plan.seed), str(apart_ns))
                if key in there:
                    continue
                with Network(trial.plan, library, apart_ns=apart_ns) as network:
                    network.run()
                    found = network.metrics()
                yield _append(out, [*key, found.efficiency, found.fairness or 0.0])


def requests(kept: Kept) -> Numbers:
    """The fairness of REQUESTS: the model with both times between requests, and the others."""
    model, trials = _kept(KEPT_FILE), kernel(kept)
    seeds = sorted({key[5] for key in model if key[:5] == REQUESTS}, key=int)
    cells = CELLS_OF["MEO"][0]
    groups = {
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
def _kept(path: Path) -> Mapping[Trial, Mapping[str, float]]:
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


def _append(out: Path, values: Sequence[str | float]) -> str:
    texts = [value if isinstance(value, str) else f"{value:.4f}" for value in values]
    new = not out.exists()
    with out.open("a", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerows([COLUMNS, texts] if new else [texts])
    return " ".join(texts)


if __name__ == "__main__":
    for line in compute(KEPT_FILE):
        print(line)
