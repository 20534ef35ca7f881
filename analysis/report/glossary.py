# SPDX-License-Identifier: GPL-2.0-only
"""What the columns of a report's tables mean, for its reader."""

from __future__ import annotations

from collections.abc import Iterable

from analysis.report.model import Column, Sheet
from analysis.report.tables import metric_title

MEANINGS = {
    "efficiency": "the TCP payload that all clients received while it was measured, divided by "
    "what the link can carry",
    "fairness": "Jain's index (1: all got the same) of what each client received, divided by its "
    "max-min fair share",
    "capacity_bit_per_s": "the TCP payload that the link can carry each second, after all headers "
    "and cells",
    "retransmits": "segments that the servers sent again",
    "timeouts": "retransmission timeouts of the servers",
    "answered": "the share of the requests whose whole answer came",
    "efficiency_from_start": "efficiency over the whole trial, its start included",
    "peak_cells": "the most cells that the queue held",
    "wasted_share": "the share of the link's cells that belonged to packets that could not arrive "
    "whole",
}
ALWAYS = (
    ("seed", "the number from which the trial draws all that is drawn by chance"),
    ("±", "half the width of the 95 % interval of a mean over the seeds (Student's t)"),
    ("virtual s", "how long the trial lasted by its virtual clock"),
    ("wall s, CPU s", "how long the trial took on this machine, and the processor time it used"),
)


def glossary(measured: Iterable[str]) -> Sheet:
    """The columns of what was measured, and those that every report has."""
    own = [[metric_title(name), MEANINGS[name]] for name in measured if name in MEANINGS]
    return Sheet(
        name="glossary",
        caption="Columns of the tables above",
        columns=[Column(name="column", title="Column"), Column(name="meaning", title="Meaning")],
        rows=[*own, *(list(row) for row in ALWAYS)],
    )
