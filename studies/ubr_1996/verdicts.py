# SPDX-License-Identifier: GPL-2.0-only
"""README's tables of verdicts, by 95 % intervals over cells and seeds, as kept."""

import re
from collections.abc import Mapping, Sequence
from functools import cache

from analysis import by_means
from analysis.claims import Claim, claims_of
from analysis.claims.reading import WIDER, WIDER_WORDS
from analysis.claims.topics import FAILS, FILE, HOLDS, NONE, PART, UNDECIDED, load
from analysis.claims.topics import texts as short
from analysis.kept import Kept
from analysis.report.model import Sheet, Value, plain, signed
from analysis.report.sentences import Numbers
from analysis.table import Row
from studies.ubr_1996.checks import CHECKS
from studies.ubr_1996.study import FOLDER, STUDY

MEASUREMENTS = {
    "ubr-persistent": "from 2 to 12 s, minimum RTO 0.2 s",
    "ubr-persistent-slow-timer": "first 8 s, minimum RTO 1 s",
}
NOT_MEASURED = "not measured"
VERDICTS = (HOLDS, FAILS, UNDECIDED)
GROUPS = {"holds": HOLDS, "fails": FAILS, "undecided": UNDECIDED, "part": PART}
"""How the names of the texts end -> the topics that they have."""
NUMBER = r"([+-]?\d+\.\d+)"
SHARE = re.compile(r"(\w+ below \d+\.\d+ in \d+ of \d+ trials)")
SPAN = re.compile(r"(\d+\.\d+ to \d+\.\d+ in \d+ cells)")
DIFFERENCE = re.compile(rf"difference {NUMBER} ± {NUMBER}")
MEAN = re.compile(rf"{NUMBER} ± {NUMBER}")
BOUND = re.compile(r"(at (?:most|least) \d+\.?\d*)$")
"""How the evidence of a verdict writes its figure."""


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
    for campaign, measured in MEASUREMENTS.items():
        for bound, of in _by_bound(found(kept, campaign)).items():
            rows.append([measured, bound, len(of), *map(of.count, (*VERDICTS, NOT_MEASURED))])
    heads = [(verdict, "d") for verdict in (*VERDICTS, NOT_MEASURED)]
    return plain(rows, "measurement", "bound", ("readings", "d"), *heads)


KINDS = {
    "direction": "direction: surely the claimed sign",
    "size": "size: one seed could give the published figure",
}
"""More verdicts in the kept table -> what README calls them."""


def kinds(kept: Kept) -> Sheet:
    """How many readings have each verdict of direction and of size, with their first bounds."""
    rows: list[list[Value]] = [
        [measured, title, len(of), *map(of.count, VERDICTS)]
        for campaign, measured in MEASUREMENTS.items()
        for kind, title in KINDS.items()
        for of in [_of_kind(kept, campaign, kind)]
    ]
    heads = [(verdict, "d") for verdict in VERDICTS]
    return plain(rows, "measurement", "judged by", ("readings", "d"), *heads)


def _of_kind(kept: Kept, campaign: str, kind: str) -> Sequence[str]:
    """The verdicts of a kind, of the readings that have it."""
    rows = [row for row in kept.claims(campaign).rows if not row["id"].endswith(WIDER)]
    return [row[kind] for row in rows if row[kind]]


def draws(kept: Kept) -> Numbers:
    """How many published figures lie outside the 95 % prediction interval of one seed."""
    found: dict[str, float] = {}
    for name, campaign in zip(("first", "slow"), MEASUREMENTS, strict=True):
        for row in kept.table(campaign, "one-draw").rows:
            found |= {
                f"{name}_{row['response']}": int(row["outside"]),
                f"{name}_cells": int(row["cells"]),
                f"{name}_by_chance": float(row["by_chance"]),
            }
    return found


def claims(kept: Kept) -> Sheet:
    """All readings except those that hold in both campaigns."""
    both = [found(kept, campaign) for campaign in MEASUREMENTS]
    rows: list[list[Value]] = [
        [claim.sentence, claim.source, _reading(claim), _bound(claim.id), *found_of]
        for claim in _claims()
        for found_of in [[of[claim.id] for of in both]]
        if {*found_of} != {HOLDS}
    ]
    heads = ("minimum RTO 0.2 s", "first 8 s, minimum RTO 1 s")
    return plain(rows, "sentence", "slide", "reading", "bound", *heads)


def _reading(claim: Claim) -> str:
    """How the check reads the sentence; the bound has a column of its own."""
    return claim.reading.removesuffix(WIDER_WORDS).strip()


def first_bounds(kept: Kept) -> Mapping[str, Sequence[str]]:
    """Measurement -> the verdicts on the measured claims, each with its first bound."""
    return {
        measured: [*_measured(kept, campaign).values()]
        for campaign, measured in MEASUREMENTS.items()
    }


def _measured(kept: Kept, campaign: str) -> dict[str, str]:
    """Claim with its first bound -> its verdict, where its rows ran."""
    return {
        name: verdict
        for name, verdict in found(kept, campaign).items()
        if not name.endswith(WIDER) and verdict != NOT_MEASURED
    }


def named(kept: Kept) -> dict[str, str]:
    """The paper's sentences in short, by verdict: from 2 to 12 s, and slow_..."""
    first = {claim.id: claim for claim in _claims() if not claim.id.endswith(WIDER)}
    topics = load(FOLDER / FILE, first)
    texts: dict[str, str] = {}
    for campaign, prefix in zip(MEASUREMENTS, ("which", "slow_which"), strict=True):
        figures = {
            row["id"]: text + _behind(kept, campaign, first[row["id"]])
            for row in kept.claims(campaign).rows
            if row["id"] in first and (text := figure(row["evidence_seeds"]))
        }
        by_verdict = short(topics, _measured(kept, campaign), figures)
        texts |= {f"{prefix}_{name}": by_verdict[group] for name, group in GROUPS.items()}
    return texts


def figure(evidence: str) -> str:
    """The figure that decides, as the kept evidence has it: a share, a range or a mean."""
    if share := SHARE.search(evidence):
        return share[1]
    if span := SPAN.search(evidence):
        return span[1].replace("cells", "rows")
    difference = DIFFERENCE.search(evidence) or MEAN.search(evidence)
    if difference is None:
        return ""
    sign = "+.3f" if difference[1][0] == "-" or "minus" in evidence else ".3f"
    text = signed(f"{float(difference[1]):{sign}} ± {float(difference[2]):.3f}")
    bound = BOUND.search(evidence)
    return f"{text}; bound: {bound[1]}" if bound else text


def _behind(kept: Kept, campaign: str, claim: Claim) -> str:
    """What a reader needs beside the figure: the bound of a share, and rows that are only ours."""
    if claim.check == "share_below":
        return f"; bound: at least {100 * claim.parameters['share']:.0f} % of them"
    if claim.check != "each_bounded":
        return ""
    rows = _rows(kept, campaign, claim)
    printed = sum(bool(row["efficiency_published"]) for row in rows)
    return "" if printed == len(rows) else f"; the paper has {printed} of these rows"


def _rows(kept: Kept, campaign: str, claim: Claim) -> Sequence[Row]:
    """The cells that a claim on each of them is about."""
    levels = {name: {*map(str, of)} for name, of in claim.parameters["where"].items()}
    rows = [
        row
        for row in kept.cells(campaign).rows
        if all(row[name] in of for name, of in levels.items())
    ]
    with_any, without = (claim.parameters.get(name) for name in ("with_any", "without"))
    if with_any:
        rows = [row for row in rows if float(row[with_any]) > 0]
    return [row for row in rows if not without or float(row[without]) == 0]


def numbers(kept: Kept) -> dict[str, int]:
    """How many readings have each verdict, with the first bounds: from 2 to 12 s, and slow_...

    parts: 1 if readings of a topic differ from 2 to 12 s, else 0.
    """
    first, second = (first_bounds(kept)[measured] for measured in MEASUREMENTS.values())
    names = ("holds", "fails", "undecided")
    return {
        "parts": int(named(kept)["which_part"] != NONE),
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
