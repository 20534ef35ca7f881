# SPDX-License-Identifier: GPL-2.0-only
"""`python -m tests.apart` computes the model's trials of studies/ubrplus_1998/apart.py.

Lines that the file has already stay, so that you can stop it.
"""

from __future__ import annotations

import csv
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from harness.design import experiment
from harness.design.trials import planned
from studies.ubrplus_1998.apart import (
    COLUMNS,
    EXPERIMENT,
    FACTORS,
    KEPT_FILE,
    REQUESTS,
    SEEDS,
    TIMES_NS,
    Trial,
    kept_lines,
)
from studies.ubrplus_1998.model.network import Network
from topology import libcellq


def compute(out: Path) -> Iterator[str]:
    """Append the trials that a file does not have; each line as it is written."""
    design = experiment.load(EXPERIMENT)
    there = set(kept_lines(out)) if out.exists() else set[Trial]()
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
