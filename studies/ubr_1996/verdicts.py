# SPDX-License-Identifier: GPL-2.0-only
"""README's tables of verdicts: by intervals over cells and seeds, and by the kept means.

The records of the two campaigns are gone. Their kept verdicts, by intervals, are older than the
present claims, and count for the readings that did not change since: those that were kept and have
one bound. The others are judged by the means of the cells (analysis/by_means.py).
"""

from collections.abc import Mapping, Sequence
from functools import cache

from analysis import by_means
from analysis.claims import Claim, Verdict, claims_of
from analysis.claims.reading import WIDER
from analysis.kept import Kept
from analysis.report.model import Sheet, Value, plain
from studies.ubr_1996.checks import CHECKS
from studies.ubr_1996.study import STUDY

READINGS = {
    "ubr-persistent": "from 2 to 12 s, minimum RTO 0.2 s",
    "ubr-persistent-slow-timer": "first 8 s, minimum RTO 1 s",
}
HOLDS = Verdict.HOLDS.value
VERDICTS = (HOLDS, Verdict.FAILS.value, Verdict.UNDECIDED.value)
INTERVALS, MEANS = "intervals", "means"
NEEDS_PLAN = frozenset({"summary-ubr-no-guarantee"})
"""New readings whose check needs the plan of a trial: they wait for the next trials."""


def found(kept: Kept, campaign: str) -> Mapping[str, tuple[str, str]]:
    """Claim -> how it was judged, and its verdict, in the order of the file."""
    old = {row["id"]: row["verdict_seeds"] for row in kept.claims(campaign).rows}
    changed = by_means.with_two_bounds(_claims())
    same = {name: verdict for name, verdict in old.items() if name not in changed}
    rows = kept.cells(campaign).rows
    judged = by_means.of_rows(rows, STUDY, CHECKS, but=NEEDS_PLAN | same.keys())
    new = {claim.id: finding.verdict.value for claim, finding in judged}
    return {
        claim.id: (INTERVALS, same[claim.id]) if claim.id in same else (MEANS, new[claim.id])
        for claim in _claims()
        if claim.id not in NEEDS_PLAN
    }


def verdicts(kept: Kept) -> Sheet:
    """How many readings have each verdict, by campaign and by the way of judging."""
    rows: list[list[Value]] = []
    for campaign, reading in READINGS.items():
        both = found(kept, campaign)
        for words, of in _ways(both).items():
            rows.append([reading, words, len(of), *map(of.count, VERDICTS)])
    heads = [(verdict, "d") for verdict in VERDICTS]
    return plain(rows, "reading", "judged by", ("readings", "d"), *heads)


def claims(kept: Kept) -> Sheet:
    """The readings that do not hold in both campaigns."""
    first, second = (found(kept, campaign) for campaign in READINGS)
    rows: list[list[Value]] = [
        [claim.sentence, claim.source, _bound(claim), first[claim.id][0], *verdicts]
        for claim in _claims()
        if claim.id in first
        for verdicts in [[of[claim.id][1] for of in (first, second)]]
        if set(verdicts) != {HOLDS}
    ]
    heads = ("minimum RTO 0.2 s", "first 8 s, minimum RTO 1 s")
    return plain(rows, "sentence", "slide", "bound", "judged by", *heads)


def first_bounds(kept: Kept) -> Mapping[str, Sequence[str]]:
    """Reading -> the verdicts on the present claims, each with its first bound."""
    return {
        reading: [v for name, (_, v) in found(kept, campaign).items() if not _is_wider(name)]
        for campaign, reading in READINGS.items()
    }


def numbers(kept: Kept) -> dict[str, int]:
    """How many readings have each verdict, with the first bounds: from 2 to 12 s, and slow_..."""
    first, second = (first_bounds(kept)[reading] for reading in READINGS.values())
    names = ("holds", "fails", "undecided")
    return {
        "claims": len(first),
        **dict(zip(names, map(first.count, VERDICTS), strict=True)),
        **{f"slow_{n}": second.count(v) for n, v in zip(names, VERDICTS, strict=True)},
    }


def _ways(both: Mapping[str, tuple[str, str]]) -> Mapping[str, Sequence[str]]:
    """Verdicts by the way of judging."""
    means = {name: v for name, (way, v) in both.items() if way == MEANS}
    return {
        "intervals over cells and seeds": [v for way, v in both.values() if way == INTERVALS],
        "means, first bound": [v for name, v in means.items() if not _is_wider(name)],
        "means, wider bound": [v for name, v in means.items() if _is_wider(name)],
    }


def _bound(claim: Claim) -> str:
    if _is_wider(claim.id):
        return "wider"
    return "first" if claim.id in by_means.with_two_bounds(_claims()) else ""


def _is_wider(name: str) -> bool:
    return name.endswith(WIDER)


@cache
def _claims() -> tuple[Claim, ...]:
    return claims_of(STUDY, CHECKS)
