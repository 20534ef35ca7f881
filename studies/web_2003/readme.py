# SPDX-License-Identifier: GPL-2.0-only
"""The tables of its README, from the kept results."""

from collections.abc import Callable, Mapping, Sequence

from analysis.kept import Kept, number
from analysis.report.model import Sheet, Value, plain
from analysis.table import Row
from studies.web_2003.study import QUEUES, SENDERS

MAIN, RED, TODAY, WHOLE = "web-quick", "web-red", "web-today", "web"
Line = list[Value]


def quantiles(kept: Kept) -> Sheet:
    """Median and 90th percentile of every load and queue, Reno and SACK."""
    table = kept.cells(MAIN)
    rows: list[Line] = []
    for load in table.levels("load"):
        for queue in QUEUES:
            cells = [kept.cell(MAIN, load=load, queue=queue, sender=one) for one in SENDERS]
            times = [number(cell, name) for name in ("median_ms", "p90_ms") for cell in cells]
            rows.append([f"{load} %", queue, *times, *map(_again, cells)])
    heads = [
        *((f"{sender}, {name} (ms)", ",.0f") for name in ("median", "90 %") for sender in SENDERS),
        *((f"{sender}, sent again (%)", ".1f") for sender in SENDERS),
    ]
    return plain(rows, "load", "queue", *heads)


def _again(cell: Row) -> float | None:
    share = number(cell, "resent_share")
    return None if share is None else 100 * share


def whole(kept: Kept) -> Sheet:
    """The cells that were run at the study's own size."""
    names = ("p10_ms", "median_ms", "p90_ms", "p99_ms", "large_median_ms")
    rows: list[Line] = [
        [f"{row['load']} %", row["queue"], row["sender"], *_figures(row, *names)]
        for row in kept.cells(WHOLE).rows
    ]
    heads = ("10 %", "median", "90 %", "99 %", "median above 50 kB")
    return plain(rows, "load", "queue", "sender", *_heads(*heads))


def claims(kept: Kept) -> Sheet:
    """Each claim and its verdict."""
    return _judged(kept.claims(MAIN).rows)


def whole_claims(kept: Kept) -> Sheet:
    """Each claim that the cells of the study's own size decide, and its verdict."""
    rows = kept.claims(WHOLE).rows
    return _judged([row for row in rows if row["verdict_seeds"] != "undecided"])


def _judged(claims: Sequence[Row]) -> Sheet:
    names = ("sentence", "reading", "verdict_seeds", "evidence_seeds")
    rows: list[Line] = [[row[name] for name in names] for row in claims]
    return plain(rows, "sentence", "reading", "verdict", "measured")


def red(kept: Kept) -> Sheet:
    """Adaptive RED's upper threshold."""
    rows: list[Line] = [
        [f"{row['load']} %", row["queue"], row["red"], *_figures(row, "median_ms", "p90_ms")]
        for row in kept.cells(RED).rows
    ]
    return plain(rows, "load", "queue", "red", *_heads("median", "90 %"))


def today(kept: Kept) -> Sheet:
    """Senders and queues of today, of each load the shortest 90th percentile first."""
    names = ("small_median_ms", "median_ms", "p90_ms", "p99_ms", "large_median_ms")
    table = kept.cells(TODAY)
    rows: list[Line] = [
        [f"{load} %", row["sender"], row["queue"], *_figures(row, *names)]
        for load in table.levels("load")
        for row in sorted(table.rows, key=lambda row: number(row, "p90_ms") or 0)
        if row["load"] == load
    ]
    heads = ("median to 1,460 bytes", "median", "90 %", "99 %", "median above 50 kB")
    return plain(rows, "load", "sender", "queue", *_heads(*heads))


def _figures(row: Row, *names: str) -> Line:
    return [*(number(row, name) for name in names), _again(row)]


def _heads(*names: str) -> list[tuple[str, str]]:
    return [*((f"{name} (ms)", ",.0f") for name in names), ("sent again (%)", ".1f")]


TABLES: Mapping[str, Callable[[Kept], Sheet]] = {
    "whole": whole,
    "whole-claims": whole_claims,
    "quantiles": quantiles,
    "claims": claims,
    "red": red,
    "today": today,
}
