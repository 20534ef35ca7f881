# SPDX-License-Identifier: GPL-2.0-only
"""The readings that were changed after trials had shown figures for them."""

from collections import Counter
from dataclasses import dataclass

from analysis.kept import Kept
from analysis.report.model import Sheet, Value, plain
from analysis.report.sentences import Number, Numbers
from studies.web_2003 import readings
from studies.web_2003.abstract import AS_IN_NS_2, PANELS, VERDICTS, WHOLE


@dataclass(frozen=True, kw_only=True)
class Alteration:
    """Readings (ids of claims.toml, those of Linux's rule), what they asked before, and the day."""

    readings: tuple[str, ...]
    before: str
    day: str


ALTERED = (
    Alteration(
        readings=("ecn-better-median", "ecn-better-p90", "ecn-half-the-retransmissions"),
        before="loads of 95 and 105 %",
        day="23 November 2026",
    ),
    Alteration(
        readings=("red-tradeoff-80", "red-tradeoff-ecn-80"),
        before="no reading at 80 %",
        day="23 November 2026",
    ),
    Alteration(
        readings=("sack-not-enough-flows",),
        before="all loads that ran",
        day="27 November 2026",
    ),
    Alteration(
        readings=("sack-large-below",),
        before="loads of 80, 90 and 98 %",
        day="27 November 2026",
    ),
    Alteration(
        readings=("ecn-drops-cause-retransmissions",),
        before="at most half as large (now a reading of its own)",
        day="27 November 2026",
    ),
)


def table(kept: Kept) -> Sheet:
    """Each altered reading: before, since when, and its verdicts."""
    found = readings.by_claim(kept)
    rows: list[list[Value]] = [
        [*readings.names(found[name]), one.before, one.day,
         *map(readings.verdict, found[name].both)]
        for one in ALTERED
        for name in one.readings
    ]  # fmt: skip
    kinds = (f"{kind} ARED" for kind in readings.KINDS)
    return plain(rows, *readings.HEADS, "before", "changed on", *kinds)


def numbers(kept: Kept) -> Numbers:
    """How many readings are altered, and the verdicts of the others."""
    altered = {name for one in ALTERED for name in one.readings}
    verdicts = {row["id"]: row["verdict_seeds"] for row in kept.claims(WHOLE).rows}
    told: dict[str, Number] = {"altered": len(altered)}
    for rule, end in (("linux", ""), ("ns_2", AS_IN_NS_2)):
        others = [
            name
            for name in verdicts
            if name.endswith(AS_IN_NS_2) is bool(end) and name.removesuffix(end) not in altered
        ]
        counted = Counter(verdicts[name] for name in others)
        told |= {f"{rule}_{name}": counted[verdict] for name, verdict in VERDICTS.items()}
        held = [name for name in others if verdicts[name] == VERDICTS["holds"]]
        told[f"{rule}_panels"] = sum(name.startswith(PANELS) for name in held)
        told["others"] = len(others)
    return told
