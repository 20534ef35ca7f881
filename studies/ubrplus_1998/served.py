# SPDX-License-Identifier: GPL-2.0-only
"""Why two flavors have the same figures with the kernel's own timer: what each client received.

served.csv has a line for each flavor and client of two trials of ubrplus-www-rfc-assumptions, from
the file flows.csv of their records.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from analysis.kept import Kept
from analysis.report.sentences import Numbers
from analysis.table import Row, read_csv

KEPT_FILE = Path(__file__).with_name("served.csv")
CAMPAIGN = "ubrplus-www-rfc-assumptions"
PLACE = {"network": "WAN", "policy": "EPD", "buffer": "0.5", "assumption": "kernel timer"}
FLAVORS = ("Reno", "NewReno")


def served(kept: Kept) -> Numbers:
    """How many clients got all and how many nothing, and the timeouts of both flavors."""
    lines = clients()
    whole, nothing = ({flavor: of(rows) for flavor, rows in lines.items()} for of in (_all, _none))
    cells = [kept.cell(CAMPAIGN, flavor=flavor, **PLACE) for flavor in FLAVORS]
    received = [[row["received_bytes"] for row in rows] for rows in lines.values()]
    stuck = {
        (row["timeouts"], row["retransmits"])
        for name, rows in lines.items()
        for row in rows
        if row["pair"] in nothing[name]
    }
    return {
        "efficiency": float(cells[0]["efficiency"]),
        "percent": 100 * float(cells[0]["efficiency"]),
        "tie": int(cells[0]["efficiency"] == cells[1]["efficiency"]),
        "alike": int(received[0] == received[1] and len({*map(frozenset, nothing.values())}) == 1),
        "clients": len(received[0]),
        "whole": len(whole[FLAVORS[0]]),
        "nothing": len(nothing[FLAVORS[0]]),
        "stuck": int(min(stuck)[0]),
        "same_stuck": len(stuck),
        "only_after_timeouts": int(all(timeouts == again for timeouts, again in stuck)),
        **{
            f"{name}_timeouts": sum(int(row["timeouts"]) for row in rows)
            for name, rows in lines.items()
        },
    }


@cache
def clients() -> Mapping[str, Sequence[Row]]:
    """Flavor -> the line of each client."""
    rows = read_csv(KEPT_FILE).rows
    return {name: [row for row in rows if row["flavor"] == name] for name in FLAVORS}


def _all(rows: Sequence[Row]) -> set[str]:
    """The clients all of whose requests were answered."""
    return {row["pair"] for row in rows if row["answered"] == row["requests"]}


def _none(rows: Sequence[Row]) -> set[str]:
    """The clients that received no byte."""
    return {row["pair"] for row in rows if row["received_bytes"] == "0"}
