# SPDX-License-Identifier: GPL-2.0-only
"""What changed in its report, and the matrices of its README, from the kept results."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import product

from analysis.kept import Kept, number
from analysis.report.model import Sheet, Value, plain, signed
from analysis.report.pages import Pages
from analysis.table import Row
from studies.kernel_cc import changes, findings
from studies.kernel_cc.abstract import abstract
from studies.kernel_cc.changes import CAMPAIGN, PATH
from studies.kernel_cc.findings import LOSSES, SHARED
from studies.kernel_cc.study import STUDY

KERNELS = STUDY.cell["kernel"]
SEEDS = 3
"""Of each cell in which no trial was left out."""


def matrix(response: str, form: str, kept: Kept) -> Sheet:
    """A response of each path, queue and number of flows: flavor by flavor on each kernel."""
    found = {tuple(row[factor] for factor in STUDY.cell): row for row in kept.cells(CAMPAIGN).rows}
    columns = list(product(STUDY.cell["flavor"], KERNELS))
    rows: list[list[Value]] = []
    for path in product(*(STUDY.cell[factor] for factor in PATH)):
        cells = [found.get((kernel, *path, flavor)) for flavor, kernel in columns]
        values = [None if cell is None else _of_seeds(cell, response, form) for cell in cells]
        if any(value is not None for value in values):
            rate, rtt, queue, flows = path
            rows.append([f"{rate} Mbit/s, {rtt} ms", queue, flows, *values])
    heads = [(f"{flavor} {kernel}", form) for flavor, kernel in columns]
    return plain(rows, "path", "queue", "flows", *heads)


def _of_seeds(cell: Row, response: str, form: str) -> Value:
    """The mean of a cell, with the number of its seeds where it is not that of the others."""
    value, seeds = number(cell, response), int(cell["seeds"])
    if value is None or seeds == SEEDS:
        return value
    return f"{signed(format(value, form))} (n = {seeds})"


def shared(kept: Kept) -> Sheet:
    """What part of the link the late comer has, and the queue's delay, on each kernel."""
    responses = (("late_share", "late share", ".3f"), ("queue_delay_ms", "queue (ms)", ".1f"))
    heads = [(f"{title} {k}", form) for _, title, form in responses for k in KERNELS]
    names = [(name, kernel) for name, *_ in responses for kernel in KERNELS]
    rows = by_kernel(kept, SHARED, ("flavor", "queue", "flows"), names)
    lines = [[*flavors.split("+"), *rest, *values] for (flavors, *rest), values in rows.items()]
    return plain(lines, "first", "late", "queue", "flows", *heads)


def losses(kept: Kept) -> Sheet:
    """Efficiency where the path loses packets, on each kernel."""
    names = [("efficiency", kernel) for kernel in KERNELS]
    rows = by_kernel(kept, LOSSES, ("rtt", "loss", "flavor"), names)
    lines = [[f"{rtt} ms", *rest, *values] for (rtt, *rest), values in rows.items()]
    return plain(lines, "round trip", "lost", "flavor", *((kernel, ".3f") for kernel in KERNELS))


def by_kernel(
    kept: Kept, campaign: str, factors: Sequence[str], wanted: Sequence[tuple[str, str]]
) -> dict[tuple[str, ...], list[Value]]:
    """Levels of the factors -> the wanted of (response, kernel); None where it was not run."""
    found: dict[tuple[str, ...], dict[str, Row]] = {}
    for row in kept.cells(campaign).rows:
        found.setdefault(tuple(row[factor] for factor in factors), {})[row["kernel"]] = row
    return {
        levels: [number(on[kernel], name) if kernel in on else None for name, kernel in wanted]
        for levels, on in found.items()
    }


TABLES: dict[str, Callable[[Kept], Sheet]] = {
    "changes": changes.table,
    "efficiency": partial(matrix, "efficiency", ".3f"),
    "fairness": partial(matrix, "fairness", ".3f"),
    "queue-delay": partial(matrix, "queue_delay_ms", ".1f"),
    "retransmits": partial(matrix, "retransmits", ",.0f"),
    "convergence": partial(matrix, "convergence_s", ".0f"),
    "shared": shared,
    "losses": losses,
}
PAGES = Pages(
    sections=[changes.changes],
    tables=TABLES,
    numbers={
        "abstract": abstract,
        "bbr-again": changes.bbr_again,
        "trials-run": findings.trials_run,
        "sure": findings.sure,
        "cells-that-moved": findings.cells_that_moved,
        "beside-bbr": findings.beside_bbr,
        "with-losses": findings.with_losses,
    },
    kept=[changes.NAME],
)
