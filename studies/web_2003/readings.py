# SPDX-License-Identifier: GPL-2.0-only
"""The readings of the authors' sentences as the README has them: numbers, words and verdicts.

A sentence has a number, and each of its readings a letter: 1a, 1b, 2. The verdicts are those of the
kept claims.csv, so the page follows a verdict that a seed changes.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from analysis.claims import Verdict, claims_of
from analysis.kept import Kept
from analysis.report.model import MISSING, Sheet, Value, listed, plain, signed
from analysis.report.sentences import Numbers
from analysis.table import Row
from studies.web_2003.abstract import AS_IN_NS_2, NOT_RUN, WHOLE
from studies.web_2003.checks import CHECKS
from studies.web_2003.study import STUDY

LINUX, NS_2 = "Linux's", "ns-2's"
KINDS = (LINUX, NS_2)
"""The kinds of Adaptive RED, in the order of the columns."""
HOLDS, FAILS, OPEN = Verdict.HOLDS.value, Verdict.FAILS.value, Verdict.UNDECIDED.value
PLURAL = {HOLDS: "hold", FAILS: "do not hold"}
WORDS: Mapping[str, str] = {
    "sack-median": "median",
    "sack-p90": "90th percentile",
    "sack-not-enough-flows": "exchanges that can use SACK",
    "sack-large": "105 %",
    "sack-large-below": "80 %",
    "red-none-below-80-median": "median",
    "red-none-below-80-p90": "90th percentile",
    "red-tradeoff-80": "without ECN, 80 %",
    "red-tradeoff-105": "without ECN, 105 %",
    "red-tradeoff-ecn-80": "with ECN, 80 %",
    "red-tradeoff-ecn-105": "with ECN, 105 %",
    "ecn-better-median": "median",
    "ecn-better-p90": "90th percentile",
    "ecn-drops-cause-retransmissions": "sent again",
    "ecn-half-the-retransmissions": "stricter limit",
}
"""A reading in a few words: what tells it from the other readings of its sentence."""
QUOTES = (
    "No benefit to using SACK",
    "not enough flows",
    "larger-than-typical",
    "no major differences",
    "Complex tradeoffs exist",
    "ARED with ECN performs better",
    "drops cause retransmissions",
)
"""Of each sentence, the part that stands for it."""


@dataclass(frozen=True)
class Reading:
    """A reading and its two lines of claims.csv, with Linux's and with ns-2's Adaptive RED."""

    number: str
    both: tuple[Row, Row]

    @property
    def id(self) -> str:
        """Its id without the kind of Adaptive RED."""
        return self.both[0]["id"]

    @property
    def sentence(self) -> str:
        """The authors' sentence."""
        return self.both[0]["sentence"]

    @property
    def quote(self) -> str:
        """The part of the sentence that stands for it; the sentence itself where none is known."""
        return next((quote for quote in QUOTES if quote in self.sentence), self.sentence)

    @property
    def words(self) -> str:
        """What tells it from the other readings of its sentence."""
        return WORDS.get(self.id, self.id)

    @property
    def verdicts(self) -> tuple[str, str]:
        """With Linux's and with ns-2's; a reading without a firm verdict is undecided."""
        one, other = (
            row["verdict_seeds"] if row["verdict_seeds"] in PLURAL else OPEN for row in self.both
        )
        return one, other


def readings(kept: Kept, campaign: str = WHOLE) -> list[Reading]:
    """All of a campaign, in the order of the claims."""
    rows = {row["id"]: row for row in kept.claims(campaign).rows}
    by_sentence: dict[str, list[tuple[Row, Row]]] = {}
    for name, row in rows.items():
        if not name.endswith(AS_IN_NS_2):
            by_sentence.setdefault(row["sentence"], []).append((row, rows[name + AS_IN_NS_2]))
    return [
        Reading(f"{number}{letter if len(some) > 1 else ''}", both)
        for number, some in enumerate(by_sentence.values(), start=1)
        for letter, both in zip("abcdefghij", some, strict=False)
    ]


def by_claim(kept: Kept) -> dict[str, Reading]:
    """Claim -> its reading, with either kind of Adaptive RED."""
    return {row["id"]: reading for reading in readings(kept) for row in reading.both}


def names(reading: Reading) -> list[Value]:
    """What begins a row about a reading; the columns are HEADS."""
    return [reading.number, reading.quote, reading.words]


HEADS = ("no.", "sentence", "reading")


def verdict(claim: Row) -> str:
    """A claim's verdict; none where a load that it needs did not run."""
    missing = claim["evidence_seeds"].startswith(NOT_RUN)
    return "not measured: no verdict" if missing else claim["verdict_seeds"]


def claims(kept: Kept) -> Sheet:
    """Each reading, its limit and its verdicts; a sentence stands beside its first reading."""
    known, shown = limits(), set[str]()
    rows: list[list[Value]] = []
    for one in readings(kept):
        sentence = "" if one.sentence in shown else one.sentence
        shown.add(one.sentence)
        rows.append(
            [one.number, sentence, one.words, known[one.id], *map(verdict, one.both),
             *(row["direction"] or MISSING for row in one.both)]
        )  # fmt: skip
    kinds = [f"{sign}{kind} ARED" for sign in ("", "sign, ") for kind in KINDS]
    return plain(rows, *HEADS, "limit", *kinds)


def limits() -> dict[str, str]:
    """Claim -> the limit of its figures, in per cent."""
    return {claim.id: _limit(claim.parameters) for claim in claims_of(STUDY, CHECKS)}


def _limit(claim: Mapping[str, float | None]) -> str:
    low, high = claim.get("at_least"), claim.get("at_most")
    if low is None and high is None:
        return "one below 0 %, one above"
    form = "+g" if claim.get("relative") else "g"
    texts = [None if x is None else _percent(f"{100 * x:{form}}") for x in (low, high)]
    if low is not None and high is not None:
        return " to ".join(filter(None, texts))
    return f"at least {texts[0]}" if high is None else f"at most {texts[1]}"


def _percent(number: str) -> str:
    return f"{signed(number)} %"


def numbers(kept: Kept) -> Numbers:
    """Which readings hold, do not hold and are undecided, in the words of the abstract."""
    found = readings(kept)
    alike = {one: [r for r in found if r.verdicts == (one, one)] for one in (HOLDS, FAILS, OPEN)}
    alone = list(filter(None, (_alone(found, kind) for kind in range(len(KINDS)))))
    return {
        **{name: _named(alike[one], found) for name, one in NAMED.items()},
        **{f"{name}_count": len(alike[one]) for name, one in NAMED.items()},
        "alone": _capital("; ".join(alone)),
        "alone_count": len(alone),
    }


NAMED = {"holds": HOLDS, "fails": FAILS, "open": OPEN}


def _alone(found: Sequence[Reading], kind: int) -> str:
    """What is firm with one kind of Adaptive RED, and has another verdict with the other kind."""
    parts = []
    for one, many in PLURAL.items():
        some = [r for r in found if r.verdicts[kind] == one != r.verdicts[1 - kind]]
        if some:
            single = len({reading.sentence for reading in some}) == 1
            parts.append(f"{_named(some, found)} {one if single else many}")
    return f"with {KINDS[kind]} alone, {', and '.join(parts)}" if parts else ""


def _named(some: Iterable[Reading], found: Sequence[Reading]) -> str:
    """Their sentences; with the readings in brackets where a sentence has more of them."""
    by_quote: dict[str, list[str]] = {}
    for reading in some:
        by_quote.setdefault(reading.quote, []).append(reading.words)
    texts = []
    for quote, words in by_quote.items():
        whole = len(words) == sum(reading.quote == quote for reading in found)
        texts.append(f'"{quote}"' + ("" if whole else f" ({'; '.join(words)})"))
    return listed(texts) if texts else ""


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
