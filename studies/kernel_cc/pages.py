# SPDX-License-Identifier: GPL-2.0-only
"""What changed in its report, and the matrices of its README, from the kept results."""

from collections.abc import Callable
from functools import partial
from itertools import product

from analysis.kept import Kept, number
from analysis.report.model import Sheet, Value, plain
from analysis.report.pages import Pages
from studies.kernel_cc import changes
from studies.kernel_cc.study import STUDY

CAMPAIGN = "kernel-cc"
PATH = ("rate", "rtt", "queue", "flows")


def matrix(response: str, form: str, kept: Kept) -> Sheet:
    """A response of each path, queue and number of flows: flavor by flavor on each kernel."""
    found = {tuple(row[factor] for factor in STUDY.cell): row for row in kept.cells(CAMPAIGN).rows}
    columns = list(product(STUDY.cell["flavor"], STUDY.cell["kernel"]))
    rows: list[list[Value]] = []
    for path in product(*(STUDY.cell[factor] for factor in PATH)):
        cells = [found.get((kernel, *path, flavor)) for flavor, kernel in columns]
        values = [None if cell is None else number(cell, response) for cell in cells]
        if any(value is not None for value in values):
            rate, rtt, queue, flows = path
            rows.append([f"{rate} Mbit/s, {rtt} ms", queue, flows, *values])
    heads = [(f"{flavor} {kernel}", form) for flavor, kernel in columns]
    return plain(rows, "path", "queue", "flows", *heads)


TABLES: dict[str, Callable[[Kept], Sheet]] = {
    "changes": changes.table,
    "efficiency": partial(matrix, "efficiency", ".3f"),
    "fairness": partial(matrix, "fairness", ".3f"),
    "queue-delay": partial(matrix, "queue_delay_ms", ".1f"),
    "retransmits": partial(matrix, "retransmits", ",.0f"),
    "convergence": partial(matrix, "convergence_s", ".0f"),
}
PAGES = Pages(sections=[changes.changes], tables=TABLES, kept=[changes.NAME])
