# SPDX-License-Identifier: GPL-2.0-only
"""Two flows of Prague, or of DCTCP, without CUBIC: the published limits, and equal shares."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.cells import Cell
from analysis.claims import claims_of
from analysis.kept import Kept
from analysis.report.model import Sheet, Value, plain
from analysis.report.sentences import Number, Numbers
from studies.l4s import by_trip
from studies.l4s.findings import SHARES, verdict
from studies.l4s.study import STUDY

CAMPAIGN = "l4s-two"
OF_THE_L_QUEUE = ("low-p99", "low-median", "low-mean", "low-loss", "low-full")
"""The claims (claims.toml) that need no sender beside the scalable senders."""


def verdicts(kept: Kept) -> Sheet:
    """A row for each limit and sender: the figure with each round trip, and the verdict."""
    some, known = by_trip.cells(kept, CAMPAIGN), {claim.id: claim for claim in claims_of(STUDY)}
    trips = by_trip.trips(some)
    lines: list[list[Value]] = []
    for name, title, form in by_trip.LIMITS:
        if name in OF_THE_L_QUEUE:
            claim = known[name]
            for sender in by_trip.SENDERS:
                found = [by_trip.text(claim, some, sender, trip, form) for trip in trips]
                lines.append([title, by_trip.limits(claim), sender, *found])
    for sender in by_trip.SENDERS:
        found = [shares(some, sender, trip) for trip in trips]
        lines.append(["larger rate over smaller", f"≤ {SHARES[1]:g}", sender, *found])
    return plain(lines, "figure", "limits", "sender", *trips)


def shares(some: Sequence[Cell], sender: str, trip: str) -> str | None:
    """The larger rate over the smaller, half of its interval, and the verdict."""
    [cell] = [one for one in some if one.matches({"sender": [sender], "trip": [trip]})]
    figure = cell.estimate("uneven")
    return None if figure is None else f"{by_trip.shown(figure, '.2f')}, {verdict(figure, SHARES)}"


def numbers(kept: Kept) -> Numbers:
    """Each response of each sender with each round trip, and whether both rates are alike."""
    some = by_trip.cells(kept, CAMPAIGN)
    manifest = kept.manifest(CAMPAIGN)
    found: dict[str, Number] = {"trials": manifest["trials"], "seeds": len(manifest["seeds"])}
    ends = [cell.estimate("uneven") for cell in some]
    found["alike"] = sum(one is not None and verdict(one, SHARES) == "holds" for one in ends)
    found |= {"cells": len(some), **by_trip.of_cells(some)}
    return {**found, **by_trip.values(some, "DCTCP")}
