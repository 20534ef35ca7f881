# SPDX-License-Identifier: GPL-2.0-only
"""README's tables of verdicts, by 95 % intervals over cells and seeds, as kept."""

from collections.abc import Mapping, Sequence
from functools import cache

from analysis import by_means
from analysis.claims import Claim, Verdict, claims_of
from analysis.claims.reading import WIDER
from analysis.kept import Kept
from analysis.report.model import Sheet, Value, plain
from analysis.report.sentences import Numbers
from studies.ubr_1996.checks import CHECKS
from studies.ubr_1996.study import STUDY

READINGS = {
    "ubr-persistent": "from 2 to 12 s, minimum RTO 0.2 s",
    "ubr-persistent-slow-timer": "first 8 s, minimum RTO 1 s",
}
HOLDS, NOT_MEASURED = Verdict.HOLDS.value, "not measured"
VERDICTS = (HOLDS, Verdict.FAILS.value, Verdict.UNDECIDED.value)


def found(kept: Kept, campaign: str) -> Mapping[str, str]:
    """Claim -> its verdict, in the order of the file; NOT_MEASURED where its rows did not run."""
    rows = {row["id"]: row for row in kept.claims(campaign).rows}
    return {claim.id: _verdict(rows[claim.id]) for claim in _claims()}


def _verdict(row: Mapping[str, str]) -> str:
    is_measured = not row["evidence_seeds"].startswith(NOT_MEASURED)
    return row["verdict_seeds"] if is_measured else NOT_MEASURED


def verdicts(kept: Kept) -> Sheet:
    """How many readings have each verdict, by campaign and by bound."""
    rows: list[list[Value]] = []
    for campaign, reading in READINGS.items():
        for bound, of in _by_bound(found(kept, campaign)).items():
            rows.append([reading, bound, len(of), *map(of.count, (*VERDICTS, NOT_MEASURED))])
    heads = [(verdict, "d") for verdict in (*VERDICTS, NOT_MEASURED)]
    return plain(rows, "reading", "bound", ("readings", "d"), *heads)


KINDS = {
    "direction": "direction: surely the claimed sign",
    "size": "size: one seed could give the published figure",
}
"""More verdicts in the kept table -> what README calls them."""


def kinds(kept: Kept) -> Sheet:
    """How many readings have each verdict of direction and of size, with their first bounds."""
    rows: list[list[Value]] = [
        [reading, title, len(of), *map(of.count, VERDICTS)]
        for campaign, reading in READINGS.items()
        for kind, title in KINDS.items()
        for of in [_of_kind(kept, campaign, kind)]
    ]
    heads = [(verdict, "d") for verdict in VERDICTS]
    return plain(rows, "reading", "judged by", ("readings", "d"), *heads)


def _of_kind(kept: Kept, campaign: str, kind: str) -> Sequence[str]:
    """The verdicts of a kind, of the readings that have it."""
    rows = [row for row in kept.claims(campaign).rows if not row["id"].endswith(WIDER)]
    return [row[kind] for row in rows if row[kind]]


def draws(kept: Kept) -> Numbers:
    """How many published figures lie outside the 95 % prediction interval of one seed."""
    found: dict[str, float] = {}
    for name, campaign in zip(("first", "slow"), READINGS, strict=True):
        for row in kept.table(campaign, "one-draw").rows:
            found |= {
                f"{name}_{row['response']}": int(row["outside"]),
                f"{name}_cells": int(row["cells"]),
                f"{name}_by_chance": float(row["by_chance"]),
            }
    return found


def claims(kept: Kept) -> Sheet:
    """The readings that do not hold in both campaigns."""
    both = [found(kept, campaign) for campaign in READINGS]
    rows: list[list[Value]] = [
        [claim.sentence, claim.source, _bound(claim.id), *(of[claim.id] for of in both)]
        for claim in _claims()
        if {of[claim.id] for of in both} != {HOLDS}
    ]
    heads = ("minimum RTO 0.2 s", "first 8 s, minimum RTO 1 s")
    return plain(rows, "sentence", "slide", "bound", *heads)


def first_bounds(kept: Kept) -> Mapping[str, Sequence[str]]:
    """Reading -> the verdicts on the measured claims, each with its first bound."""
    return {
        reading: [
            verdict
            for name, verdict in found(kept, campaign).items()
            if not name.endswith(WIDER) and verdict != NOT_MEASURED
        ]
        for campaign, reading in READINGS.items()
    }


def numbers(kept: Kept) -> dict[str, int]:
    """How many readings have each verdict, with the first bounds: from 2 to 12 s, and slow_..."""
    first, second = (first_bounds(kept)[reading] for reading in READINGS.values())
    names = ("holds", "fails", "undecided")
    return {
        "claims": len(first),
        "slow_claims": len(second),
        **dict(zip(names, map(first.count, VERDICTS), strict=True)),
        **{f"slow_{n}": second.count(v) for n, v in zip(names, VERDICTS, strict=True)},
    }


def _by_bound(of: Mapping[str, str]) -> Mapping[str, Sequence[str]]:
    """Verdicts by the bound of their readings."""
    return {
        words: [verdict for name, verdict in of.items() if _bound(name) == bound]
        for bound, words in (("", "only one"), ("first", "first"), ("wider", "wider"))
    }


def _bound(name: str) -> str:
    """Which of its two bounds a reading has; "" for a reading with one bound."""
    if name.endswith(WIDER):
        return "wider"
    return "first" if name in by_means.with_two_bounds(_claims()) else ""


@cache
def _claims() -> tuple[Claim, ...]:
    return claims_of(STUDY, CHECKS)
