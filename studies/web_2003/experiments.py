# SPDX-License-Identifier: GPL-2.0-only
"""The experiments of which results are kept: their trials, and how long a trial took."""

from collections.abc import Mapping
from statistics import median

from analysis.kept import Kept
from analysis.report.model import Sheet, Value, plain
from studies.web_2003.abstract import WHOLE

ABOUT: Mapping[str, str] = {
    WHOLE: "the main experiment",
    "web-witness": "short trials, which ns-2 repeats",
    "web-today": "senders and queues of today",
    "web-red": "Adaptive RED's upper threshold",
    "web-first": "the first timeout",
    "web-ticks": "the timeouts' clock",
    "web-plain": "a plain link without ATM cells",
}


def sheet(kept: Kept) -> Sheet:
    """Each experiment's loads, kept trials, and seconds of real time of a trial."""
    rows: list[list[Value]] = []
    for name, about in ABOUT.items():
        table = kept.table(name, "trials")
        took = [float(row["wall_s"]) for row in table.rows]
        loads = ", ".join(sorted(table.levels("load"), key=int))
        rows.append([f"`{name}.toml`", about, loads, len(took), min(took), median(took)])
    forms = (("kept trials", ",d"), ("s a trial: least", ",.0f"), ("s a trial: median", ",.0f"))
    return plain(rows, "experiment", "about", "loads (%)", *forms)
