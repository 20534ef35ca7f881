# SPDX-License-Identifier: GPL-2.0-only
"""README's tables of verdicts: by the kept means, and by intervals over the seeds.

The means of the cells are judged as the paper's own table is (analysis/by_means.py). Each claim
also has a kept verdict by intervals over the seeds, and those of direction and size
(analysis/claims/findings.py). Some checks compare figures as they are, also where there are seeds.
The tables count their verdicts apart from those by intervals.
"""

from collections.abc import Mapping, Sequence
from functools import cache

from analysis import by_means
from analysis.claims import Claim, claims_of
from analysis.claims.checks import BY_VALUES
from analysis.claims.reading import WIDER, WIDER_WORDS
from analysis.claims.topics import FAILS, FILE, HOLDS, PART, UNDECIDED, load, texts
from analysis.kept import Kept
from analysis.report.model import MISSING, Sheet, Value, plain
from analysis.report.sentences import Numbers
from studies.ubrplus_1998 import checks
from studies.ubrplus_1998.cells import cells_of
from studies.ubrplus_1998.checks import CHECKS
from studies.ubrplus_1998.source_tables import MINIMA, TEXT
from studies.ubrplus_1998.study import FOLDER, STUDY

RFC = "ubrplus-www-rfc"
PAPER = "the paper's own table"
TEXTS = {f"the text, minimum {minimum}": minimum for minimum in MINIMA}
SHORT = {"2 ticks": "ticks", "1 s": "second"}
"""A minimum of the timeout -> how the names of its numbers end."""
LATER = "later RFCs"
VERDICTS = (HOLDS, FAILS, UNDECIDED)
VALUES_ONLY = "means only: the check has no interval"
IN_ORDER = ("ordered", "extreme")
"""Checks that hold if the means are in order, however wide the intervals; else these decide."""
KINDS = {
    "direction": "direction: surely the claimed sign",
    "size": "size: one seed could give the published figure",
}
"""More verdicts in the kept table -> what README calls them."""
HEADS = [(verdict, "d") for verdict in VERDICTS]
Found = Mapping[str, str]
"""Claim -> verdict."""


@cache
def by_the_means(kept: Kept) -> Mapping[str, Found]:
    """Senders, the paper first -> what the means of their cells say of each claim."""
    judged = {
        PAPER: by_means.of_source(STUDY, CHECKS),
        **{
            name: by_means.of_rows(cells_of(kept, TEXT, minimum=minimum), STUDY, CHECKS)
            for name, minimum in TEXTS.items()
        },
        LATER: by_means.of_rows(cells_of(kept, RFC), STUDY, CHECKS),
    }
    return {
        name: {claim.id: finding.verdict.value for claim, finding in found}
        for name, found in judged.items()
    }


def by_intervals(kept: Kept) -> Mapping[str, Found]:
    """Senders -> the kept verdicts over the seeds, also of the checks without an interval."""
    return {name: _kept_verdicts(kept, name) for name in (*TEXTS, LATER)}


def by_kind(kept: Kept, kind: str) -> Mapping[str, Found]:
    """Senders -> the verdicts of a kind of the readings that have it, with their first bounds."""
    return {
        name: {
            claim: verdict
            for claim, verdict in _kept_verdicts(kept, name, kind).items()
            if verdict and not claim.endswith(WIDER)
        }
        for name in (*TEXTS, LATER)
    }


def _kept_verdicts(kept: Kept, name: str, kind: str = "") -> dict[str, str]:
    """Claim -> the verdict of some senders; kind: "" is the verdict on the whole claim."""
    if name == LATER:
        return {row["id"]: row[kind or "verdict_replications"] for row in kept.claims(RFC).rows}
    column = " ".join(filter(None, (f"minimum={TEXTS[name]}", kind)))
    return {row["id"]: row[column] for row in kept.table(TEXT, "claims-by-variant").rows}


def without_interval() -> frozenset[str]:
    """The readings whose check compares figures as they are, however many seeds there are."""
    names = BY_VALUES | checks.BY_VALUES
    return frozenset(claim.id for claim in _claims() if claim.check in names)


def claims(kept: Kept) -> Sheet:
    """How many readings have each verdict, by senders and by the way of judging."""
    rows: list[list[Value]] = []
    for name, found in by_the_means(kept).items():
        for way, verdicts in _ways(kept, name, found).items():
            for bound in ("first", "wider"):
                some = [v for c, v in verdicts.items() if c.endswith(WIDER) is (bound == "wider")]
                if some:
                    rows.append([name, f"{way}, {bound} bound", *_counts(some)])
        for kind, title in KINDS.items():
            if of_kind := by_kind(kept, kind).get(name):
                rows.append([name, title, *_counts([*of_kind.values()])])
    return plain(rows, "senders", "judged by", ("readings", "d"), *HEADS)


def _ways(kept: Kept, name: str, means: Found) -> Mapping[str, Found]:
    """The ways of judging the readings of some senders; the last two are over the seeds."""
    seeds, values = by_intervals(kept).get(name, {}), without_interval()
    return {
        "means": means,
        "intervals": {claim: verdict for claim, verdict in seeds.items() if claim not in values},
        VALUES_ONLY: {claim: verdict for claim, verdict in seeds.items() if claim in values},
    }


def _counts(verdicts: Sequence[str]) -> list[Value]:
    return [len(verdicts), *map(verdicts.count, VERDICTS)]


def failing(kept: Kept) -> Sheet:
    """The readings that do not hold, or are undecided, with a minimum of the timeout."""
    means, intervals = by_the_means(kept), by_intervals(kept)
    rows: list[list[Value]] = [
        [claim.sentence, claim.source, _reading(claim), *_bound(claim), *texts]
        for claim in _claims()
        for texts in [_texts(claim.id, means, intervals)]
        if any(text not in (VERDICTS[0], MISSING) for text in texts[: 2 * len(TEXTS)])
    ]
    heads = [f"{name}: {way}" for name in TEXTS for way in ("means", "intervals")]
    return plain(rows, "sentence", "section", "reading", "bound", *heads, f"{LATER}: means")


def first_bounds(kept: Kept) -> Mapping[str, Sequence[str]]:
    """Senders -> the verdicts by the means on the present claims, each with its first bound."""
    return {
        name: [verdict for claim, verdict in found.items() if not claim.endswith(WIDER)]
        for name, found in by_the_means(kept).items()
    }


def numbers(kept: Kept, minimum: str) -> Numbers:
    """How many readings have each verdict over the seeds, with first bounds; also of the means."""
    name = f"the text, minimum {minimum}"
    seeds = by_intervals(kept)
    first, later = (
        [verdict for claim, verdict in seeds[of].items() if not claim.endswith(WIDER)]
        for of in (name, LATER)
    )
    means = first_bounds(kept)[name]
    theirs = by_the_means(kept)[PAPER].values()
    return {
        "claims": len(first),
        **_counted("", first),
        **_counted("later_", later),
        **_counted("means_", means),
        "values_only": sum(not claim.endswith(WIDER) for claim in without_interval()),
        "paper_not": sum(verdict != VERDICTS[0] for verdict in theirs),
        **named(kept, minimum),
    }


def named(kept: Kept, minimum: str) -> dict[str, str]:
    """The paper's sentences in short, by the verdicts over the seeds."""
    found = by_intervals(kept)[f"the text, minimum {minimum}"]
    first = {claim: verdict for claim, verdict in found.items() if not claim.endswith(WIDER)}
    short = texts(load(FOLDER / FILE, [*first]), first)
    groups = {"holds": HOLDS, "fails": FAILS, "undecided": UNDECIDED, "part": PART}
    return {f"which_{name}": short[group] for name, group in groups.items()}


def _counted(prefix: str, verdicts: Sequence[str]) -> dict[str, int]:
    """How many verdicts there are of each kind, by name."""
    return {f"{prefix}{name}": verdicts.count(of) for name, of in NAMES.items()}


NAMES = dict(zip(("holds", "fails", "undecided"), VERDICTS, strict=True))


def altered(kept: Kept) -> Numbers:
    """The verdicts over the seeds without the readings whose bounds we changed after trials."""
    found: dict[str, int] = {"altered": len(ALTERED)}
    for name, minimum in TEXTS.items():
        first = {c: v for c, v in by_intervals(kept)[name].items() if not c.endswith(WIDER)}
        others = [verdict for claim, verdict in first.items() if claim not in ALTERED]
        found |= {"all": len(first), "others": len(first) - len(ALTERED)}
        found |= _counted(f"{SHORT[minimum]}_", others)
    return found


ALTERED = (
    "wan-efficiency-policy-negligible",
    "geo-efficiency-policy-negligible",
    "wan-efficiency-sack-above-newreno",
    "overall-sack-above-newreno-in-meo",
    "meo-efficiency-vanilla-gain",
)
"""Readings whose bounds we changed on 27 November 2026, after the text's trials had run."""


def ways(kept: Kept) -> Numbers:
    """Readings without an interval, and those whose published figure one seed could not give."""
    first = [claim.id for claim in _claims() if not claim.id.endswith(WIDER)]
    seeds, values = by_intervals(kept), without_interval()
    order = {claim.id for claim in _claims() if claim.check in IN_ORDER}
    sizes = by_kind(kept, "size")
    found: dict[str, int] = {
        "claims": len(first),
        "values_only": sum(claim in values for claim in first),
        "order": sum(claim in order for claim in first),
        "sized": min(len(of) for of in sizes.values()),
    }
    for name, minimum in TEXTS.items():
        short = SHORT[minimum]
        holds = {claim for claim in first if seeds[name][claim] == VERDICTS[0]}
        outside = {claim for claim, verdict in sizes[name].items() if verdict == VERDICTS[1]}
        found |= {
            f"holds_{short}": len(holds),
            f"order_hold_{short}": len(holds & order),
            f"values_hold_{short}": len(holds & values),
            f"outside_{short}": len(outside),
            f"outside_hold_{short}": len(outside & holds),
        }
    return found


def _texts(claim: str, means: Mapping[str, Found], intervals: Mapping[str, Found]) -> list[str]:
    both = [(means[name], intervals[name]) for name in TEXTS]
    found = [of.get(claim, MISSING) for pair in both for of in pair]
    return [*found, means[LATER][claim]]


def _reading(claim: Claim) -> str:
    """How the check reads the sentence; the bound has a column of its own."""
    return claim.reading.removesuffix(WIDER_WORDS).strip()


def _bound(claim: Claim) -> Sequence[str]:
    if claim.id.endswith(WIDER):
        return ["wider"]
    return ["first" if claim.id in by_means.with_two_bounds(_claims()) else ""]


@cache
def _claims() -> tuple[Claim, ...]:
    return claims_of(STUDY, CHECKS)
