# SPDX-License-Identifier: GPL-2.0-only
"""What changed in its report, and the matrices of its README, from the kept results."""

from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import product

from analysis.kept import Kept, number
from analysis.report.model import Sheet, Value, plain, signed
from analysis.report.pages import Pages
from analysis.table import Row
from studies.kernel_cc import (
    changes,
    findings,
    mixed,
    others,
    pacing,
    reading,
    threshold,
    window,
)
from studies.kernel_cc.abstract import abstract
from studies.kernel_cc.cause import cause
from studies.kernel_cc.cause import table as cause_table
from studies.kernel_cc.changes import CAMPAIGN, PATH
from studies.kernel_cc.days import TRIALS, days
from studies.kernel_cc.fast import fast as fast_numbers
from studies.kernel_cc.fast import faster as faster_numbers
from studies.kernel_cc.findings import FAST, FASTER
from studies.kernel_cc.parting import parting
from studies.kernel_cc.study import STUDY

KERNELS = STUDY.cell["kernel"]
FAST_FACTORS = {FAST: ("flows", "flavor", "kernel"), FASTER: ("rate", "flavor", "kernel")}
FAST_RESPONSES = (
    ("efficiency", "efficiency", ".3f"),
    ("fairness", "fairness", ".3f"),
    ("queue_delay_ms", "queue (ms)", ".2f"),
    ("retransmits", "sent again", ",.0f"),
    ("segments_per_packet", "segments handed over together", ".1f"),
    ("segments_per_ack", "segments for an ACK", ".1f"),
)
"""The responses of the rows at 1 Gbit/s and above: name, title, form."""


def matrix(response: str, form: str, kept: Kept) -> Sheet:
    """A response of each path, queue and number of flows: flavor by flavor on each kernel."""
    found = {tuple(row[factor] for factor in STUDY.cell): row for row in kept.cells(CAMPAIGN).rows}
    seeds = max(int(row["seeds"]) for row in found.values())
    known = Counter(
        tuple(row[factor] for factor in STUDY.cell)
        for row in kept.table(CAMPAIGN, TRIALS).rows
        if number(row, response) is not None
    )
    columns = list(product(STUDY.cell["flavor"], KERNELS))
    rows: list[list[Value]] = []
    for path in product(*(STUDY.cell[factor] for factor in PATH)):
        places = [(kernel, *path, flavor) for flavor, kernel in columns]
        values = [
            of_seeds(found[place], response, form, (known[place], seeds))
            if place in found
            else None
            for place in places
        ]
        if any(value is not None for value in values):
            rate, rtt, queue, flows = path
            rows.append([f"{rate} Mbit/s, {rtt} ms", queue, flows, *values])
    heads = [(f"{flavor} {kernel}", form) for flavor, kernel in columns]
    return plain(rows, "path", "queue", "flows", *heads)


def of_seeds(cell: Row, response: str, form: str, counts: tuple[int, int]) -> Value:
    """The mean of a cell. It is marked where some of its trials have no value, and where trials
    were left out.

    counts: how many of its trials have a value, and how many seeds a whole cell has.
    """
    value, own = number(cell, response), int(cell["seeds"])
    known, seeds = counts
    if value is None or known == own == seeds:
        return value
    mark = f"n = {own}" if known == own else f"{known} of {own}"
    return f"{signed(format(value, form))} ({mark})"


def fast(campaign: str, kept: Kept) -> Sheet:
    """Each cell at 1 Gbit/s or above, and how large packets and acknowledgements are there."""
    factors = FAST_FACTORS[campaign]
    rows: list[list[Value]] = [
        [*(row[name] for name in factors), int(row["seeds"]), *_of_fast(row)]
        for row in kept.cells(campaign).rows
    ]
    heads = [(title, form) for _, title, form in FAST_RESPONSES]
    return plain(rows, *factors, ("seeds", "d"), *heads)


def _of_fast(row: Row) -> list[Value]:
    """A mean with half of its interval, where there is one."""
    values: list[Value] = []
    for name, _, form in FAST_RESPONSES:
        value, half = number(row, name), f"{name}_half_width"
        width = number(row, half) if half in row else None
        shown = value is not None and width is not None
        values.append(f"{value:{form}} ± {width:{form}}" if shown else value)
    return values


TABLES: dict[str, Callable[[Kept], Sheet]] = {
    "changes": changes.table,
    "places": findings.places,
    "efficiency": partial(matrix, "efficiency", ".3f"),
    "fairness": partial(matrix, "fairness", ".3f"),
    "queue-delay": partial(matrix, "queue_delay_ms", ".1f"),
    "retransmits": partial(matrix, "retransmits", ",.0f"),
    "convergence": partial(matrix, "convergence_s", ".0f"),
    "shared": others.shared,
    "losses": others.losses,
    "fast": partial(fast, FAST),
    "faster": partial(fast, FASTER),
    "mixed": mixed.table,
    "threshold": threshold.table,
    "window": window.table,
    "left": window.left,
    "pacing": pacing.table,
    "cause": cause_table,
}
PAGES = Pages(
    sections=[changes.changes],
    tables=TABLES,
    numbers={
        "abstract": abstract,
        "bbr-again": findings.bbr_again,
        "trials-run": findings.trials_run,
        "days": days,
        "sure": findings.sure,
        "constant": findings.constant_again,
        "cells-that-moved": findings.cells_that_moved,
        "delays": findings.delays,
        "beside-bbr": others.beside_bbr,
        "with-losses": others.with_losses,
        "few-seeds": others.few_seeds,
        "losses-changes": others.losses_changes,
        "fast": fast_numbers,
        "faster": faster_numbers,
        "mixed": mixed.mixed,
        "threshold": threshold.threshold,
        "window": window.window,
        "reading": reading.reading,
        "parting": parting,
        "pacing": pacing.numbers,
        "cause": cause,
    },
    kept=[changes.NAME],
)
