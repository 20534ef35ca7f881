# SPDX-License-Identifier: GPL-2.0-only
"""The tables of its README, from the kept results."""

from collections.abc import Callable, Mapping

from analysis.kept import Kept, number
from analysis.report.model import Sheet, Value, plain
from analysis.table import Row
from studies.web_2003 import altered, experiments, figures, readings, signs, steps, traces, ways
from studies.web_2003.abstract import SLIDES, WHOLE
from studies.web_2003.ns2 import long
from studies.web_2003.ns2 import tables as ns_2

RED, TODAY, PLAIN = "web-red", "web-today", "web-plain"
FIRST, SHORT = "web-first", "web-witness"
CARRIED = {"atm": "ATM cells", "ethernet": "Ethernet frames"}
JUDGED = WHOLE
"""The campaign of which the claims' verdicts are shown: trials as long as the source's."""
Line = list[Value]


def _percent(cell: Row, name: str) -> float | None:
    share = number(cell, name)
    return None if share is None else 100 * share


def lengths(kept: Kept) -> Sheet:
    """Each reading's verdicts with short trials, and with trials as long as the source's."""
    short = {one.id: one for one in readings.readings(kept, SHORT)}
    rows: list[Line] = [
        [*readings.names(whole),
         *(readings.verdict(of.both[kind]) for kind in (0, 1) for of in (short[whole.id], whole))]
        for whole in readings.readings(kept)
    ]  # fmt: skip
    heads = [f"{kind} ARED, {n} exchanges" for kind in readings.KINDS
             for n in ("10,000", "250,000")]  # fmt: skip
    return plain(rows, *readings.HEADS, *heads)


def growth(kept: Kept) -> Sheet:
    """The figures of SACK in short trials, and in trials as long as the source's."""
    names, shares = ("median_ms", "p90_ms"), ("dropped_share", "unfinished_share")
    short, whole = (
        {(row["load"], row["queue"]): row for row in kept.cells(x).rows if row["sender"] == "SACK"}
        for x in (SHORT, WHOLE)
    )
    rows: list[Line] = [
        [f"{load} %", queue, f"{short[load, queue]['seeds']}, {row['seeds']}",
         *(number(of, name) for name in names for of in (short[load, queue], row)),
         *(_percent(of, name) for name in shares for of in (short[load, queue], row))]
        for (load, queue), row in whole.items()
        if load in SLIDES
    ]  # fmt: skip
    heads = [(f"{name}, {of}", form) for name, form in (
        ("median (ms)", ",.0f"), ("90 % (ms)", ",.0f"), ("dropped (%)", ".1f"),
        ("no response (%)", ".2f"),
    ) for of in ("short", "long")]  # fmt: skip
    return plain(rows, "load", "queue", "seeds: short, long", *heads)


def first(kept: Kept) -> Sheet:
    """What the first timeout decides."""
    rows: list[Line] = [
        [f"{row['load']} %", row["queue"], row["first_timeout"], row["seeds"],
         *_figures(row, "median_ms", "p75_ms", "p90_ms", "p99_ms")]
        for row in kept.cells(FIRST).rows
    ]  # fmt: skip
    heads = _heads("median", "75 %", "90 %", "99 %")
    return plain(rows, "load", "queue", "first timeout", "seeds", *heads)


def estimator(kept: Kept) -> Sheet:
    """The figures of all exchanges, and of those that the source would have counted."""
    names = ("median_ms", "p90_ms", "p99_ms")
    rows: list[Line] = []
    for row in kept.cells(WHOLE).rows:
        if row["sender"] == "SACK" and row["load"] in SLIDES:
            both = [_mean(kept, row, name) for one in names for name in (one, f"source_{one}")]
            share = _percent(row, "source_share")
            rows.append([f"{row['load']} %", row["queue"], row["seeds"], *both, share])
    heads = [
        (f"{name}{of}", ",.0f")
        for name in ("median (ms)", "90 %", "99 %")
        for of in ("", ", as the source")
    ]
    return plain(rows, "load", "queue", "seeds", *heads, ("counted by this rule (%)", ".1f"))


def _mean(kept: Kept, cell: Row, name: str) -> Value:
    """A cell's mean, or in how many of its trials the value is infinite."""
    factors = ("load", "sender", "queue")
    values = [
        number(row, name)
        for row in kept.table(WHOLE, "trials").rows
        if all(row[factor] == cell[factor] for factor in factors)
    ]
    infinite = values.count(None)
    return f"infinite in {infinite} of {len(values)}" if infinite else number(cell, name)


def link(kept: Kept) -> Sheet:
    """A link of ATM cells, and a plain link."""
    names = ("median_ms", "p75_ms", "p90_ms", "p99_ms")
    rows: list[Line] = [
        [row["queue"], CARRIED[row["topology.link_layer"]], row["seeds"], *_figures(row, *names)]
        for row in sorted(kept.cells(PLAIN).rows, key=lambda row: row["queue"], reverse=True)
    ]
    heads = _heads("median", "75 %", "90 %", "99 %")
    return plain(rows, "queue", "the link carries", "seeds", *heads)


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
    return [*(number(row, name) for name in names), _percent(row, "resent_share")]


def _heads(*names: str) -> list[tuple[str, str]]:
    return [*((f"{name} (ms)", ",.0f") for name in names), ("sent again (%)", ".1f")]


TABLES: Mapping[str, Callable[[Kept], Sheet]] = {
    "experiments": experiments.sheet,
    "claims": readings.claims,
    "figures": figures.sheet,
    "altered": altered.table,
    "lengths": lengths,
    "steps": steps.sheet,
    "signs": signs.sheet,
    "ways": ways.sheet,
    "traces": traces.sheet,
    "growth": growth,
    "red": red,
    "today": today,
    "first": first,
    "estimator": estimator,
    "link": link,
    "witness": ns_2.side_by_side,
    "agreement": ns_2.agreement,
    "ticks": ns_2.ticks,
    "variants": ns_2.variants,
    "long-witness": long.side_by_side,
    "long-distances": long.distances,
    "long-effects": long.effects,
}
