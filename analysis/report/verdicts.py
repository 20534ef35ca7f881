# SPDX-License-Identifier: GPL-2.0-only
"""The section of a report on the claims of its source: which it decides, and how."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.claims import Claim, Finding, Judged, Method, Verdict
from analysis.report.model import Claims, ClaimText, Section
from analysis.report.results import Results
from analysis.report.standing import counted

Same = tuple[tuple[Claim, Finding], ...]
"""A claim with its finding by each method."""
NO_ANSWER = (Verdict.UNDECIDED, Verdict.ONE_SEED)


def verdicts(results: Results) -> Section | None:
    """The claims; of a part of a study only those that it decides. None without any claim."""
    every: list[Same] = list(zip(*results.findings.values(), strict=True))
    shown = [same for same in every if not results.partial or _answered(same)]
    if not every and not (results.partial and results.study.claims):
        return None
    groups: dict[str, list[ClaimText]] = {}
    for same in shown:
        groups.setdefault(same[0][0].heading, []).append(_claim(same, list(results.findings)))
    return Section(
        id="claims",
        title=f"Claims of {results.study.source}",
        paragraphs=[
            *([_how_to_read(results)] if shown else []),
            *([_not_decided(results, len(every), len(shown))] if results.partial else []),
        ],
        parts=[Claims(claims=groups.pop(""))] if "" in groups else [],
        sections=[
            Section(id=f"claims-{place}", title=heading, parts=[Claims(claims=some)])
            for place, (heading, some) in enumerate(groups.items(), 1)
        ],
    )


def _how_to_read(results: Results) -> str:
    return (
        f"The list has each sentence, its place in {results.study.source}, and our verdicts. A "
        "verdict is undecided if we did not measure the combinations, or if the intervals allow "
        "both answers. The verdict on the direction asks whether each difference lies on the side "
        "of 0 that the sentence says, by intervals paired by seed. The verdict on the size "
        "asks whether one of our seeds could have given the published figures (by the 95 % "
        "prediction interval of one trial)."
    )


def _not_decided(results: Results, every: int, shown: int) -> str:
    """Of how many claims a part of a study says nothing, and why."""
    seeds = max((len(cell.trials) for cell in results.cells), default=0)
    has = (
        f"This campaign has {results.measured_cells} of the {results.whole_cells} combinations of "
        f"{results.study.source}, with {counted(seeds, 'seed')}"
    )
    if not shown:
        return f"{has}. The claims of this source need more combinations or more seeds."
    return (
        f"{has}. It decides {shown} of {counted(every, 'claim')}; the other {every - shown} need "
        "more combinations or more seeds."
    )


def _answered(same: Same) -> bool:
    """Does any verdict on a claim answer anything?"""
    sharpest = same[-1][1]
    judged: Sequence[Judged | None] = (
        *(finding for _, finding in same), sharpest.direction, sharpest.size,
    )  # fmt: skip
    return any(one and one.verdict not in NO_ANSWER for one in judged)


def _claim(same: Sequence[tuple[Claim, Finding]], methods: Sequence[Method]) -> ClaimText:
    about, sharpest = same[-1]
    both = (("direction", sharpest.direction), ("size", sharpest.size))
    return ClaimText(
        sentence=about.sentence,
        source=about.source,
        reading=about.reading,
        verdicts=[
            (method.value, finding.verdict.value, finding.evidence)
            for method, (_, finding) in zip(methods, same, strict=True)
        ]
        + [(kind, one.verdict.value, one.evidence) for kind, one in both if one],
    )
