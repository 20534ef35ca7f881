# SPDX-License-Identifier: GPL-2.0-only
"""The board: a row for each criterion of claims.toml, a column for each sender.

A criterion asks each sender alone: its mean over the seeds has to keep the bound surely, by the
95 % interval over the seeds. The intervals of the board are not adjusted for their number.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from analysis import kept_trials
from analysis.cells import Cell
from analysis.claims import Claim, Evidence, Finding, Method, Verdict, claims_of
from analysis.claims.findings import ALPHA
from analysis.contrasts import BySeed, Contrast, contrast
from analysis.families import holm
from analysis.kept import Kept
from analysis.report.model import Sheet, Value, plain, signed
from analysis.statistics import Estimate, mean
from analysis.study import Response
from studies.cc_board.study import ALIKE, STUDY

CAMPAIGNS = ("cc-board", "cc-board-bbr3", "cc-board-marks")
"""The kept campaigns of TCP, the main campaign first."""
PRAGUE, QUIC, AIOQUIC = "cc-board-prague", "cc-board-quic", "cc-board-aioquic"
"""The kept campaigns of Prague and of QUIC, which may have fewer seeds."""
ALL = (*CAMPAIGNS, PRAGUE, QUIC, AIOQUIC)
SAME_STARTS = (2, 3, 4)
"""The seeds that start within 0.06 s of each other."""
RESPONSES: Mapping[str, Response] = {one.name: one for one in (*STUDY.responses, *STUDY.measures)}
AT_LEAST, AT_MOST = "at_least", "at_most"
WORDS = {AT_LEAST: "≥", AT_MOST: "≤"}
SHORT = {
    "efficiency": "use of the link",
    "queue_p95_ms": "95 % of the queue's delay",
    "queue_mean_ms": "mean delay of the queue",
    "lost_percent": "lost in the queue",
    "sent_in_silence": "sent again in silence",
    "jain": "Jain's index",
    "fair_after_s": "convergence time",
    "slower_start": "time for 150 kB, over alone",
    "long_over_short": "rate, long over short",
    "long_share": "long flow, of its fair share",
    "standard_share": "standard flow, of its fair share",
    "adapted_after_s": "time until the link is full",
}
"""What a row of the board calls a figure."""


@dataclass(frozen=True)
class Place:
    """A criterion and a sender: the figure with its interval, and the verdict."""

    claim: Claim
    flavor: str
    finding: Finding
    figure: Estimate | None

    @property
    def text(self) -> str | None:
        """The figure, half of its interval, and the verdict.

        None where nothing was measured; one seed has no interval, and so no verdict.
        """
        if self.figure is None:
            return None
        form, half = response(self.claim).form, self.figure.half_width
        shown = signed(format(self.figure.mean, form))
        return shown if half is None else f"{shown} ± {half:{form}}, {self.finding.verdict.value}"

    @property
    def p(self) -> float | None:
        """Of the mean being the bound; None where nothing was measured, or only one seed."""
        if not self.finding.figures:
            return None
        key = AT_LEAST if AT_LEAST in self.claim.parameters else AT_MOST
        [figure] = self.finding.figures
        return figure.measured.p_against(float(self.claim.parameters[key]))


def response(claim: Claim) -> Response:
    """What a criterion measures."""
    return RESPONSES[str(claim.parameters["response"])]


def bound(claim: Claim) -> str:
    """A criterion's bound: ≥ 0.9."""
    key = AT_LEAST if AT_LEAST in claim.parameters else AT_MOST
    return f"{WORDS[key]} {claim.parameters[key]:g} {response(claim).unit}".strip()


def case(claim: Claim) -> str:
    """The case of a criterion."""
    [found] = claim.parameters["where"]["case"]
    return str(found)


def section(claim: Claim) -> str:
    """The section of RFC 9743."""
    return claim.source.rpartition(" ")[2]


def places(cells: Sequence[Cell], flavors: Sequence[str]) -> list[list[Place]]:
    """A row for each criterion with a place for each sender."""
    return [[_place(claim, cells, flavor) for flavor in flavors] for claim in claims_of(STUDY)]


def _place(claim: Claim, cells: Sequence[Cell], flavor: str) -> Place:
    where = {**claim.parameters["where"], "flavor": [flavor]}
    asked = replace(claim, parameters={**claim.parameters, "where": where})
    found = [cell for cell in cells if cell.matches(where)]
    figure = found[0].estimate(response(claim).name) if found else None
    return Place(claim, flavor, asked.on(Evidence(found, STUDY, Method.SEEDS)), figure)


def merged(cells: Sequence[Cell]) -> list[Cell]:
    """The cells with the seeds of SAME_STARTS as one observation, in the cases of ALIKE."""
    return [
        replace(cell, metrics={name: _merged(values) for name, values in cell.metrics.items()})
        if cell.levels["case"] in ALIKE
        else cell
        for cell in cells
    ]


def _merged(values: Mapping[int, float]) -> dict[int, float]:
    found = {seed: value for seed, value in values.items() if seed not in SAME_STARTS}
    same = [values[seed] for seed in SAME_STARTS if seed in values]
    return found | ({SAME_STARTS[0]: mean(same)} if same else {})


def table(rows: Sequence[Sequence[Place]], flavors: Sequence[str]) -> Sheet:
    """The board."""
    lines: list[list[Value]] = [
        [
            case(row[0].claim),
            section(row[0].claim),
            f"{SHORT[response(row[0].claim).name]} {bound(row[0].claim)}",
            *(place.text for place in row),
        ]
        for row in rows
    ]
    return plain(lines, "case", "RFC 9743", "criterion", *flavors)


def kept_cells(kept: Kept) -> list[Cell]:
    """The cells of the kept trials."""
    files = [kept.folder / name / kept_trials.FILE for name in ALL]
    return kept_trials.cells_of(one for file in files for one in kept_trials.read(file))


def kept_places(kept: Kept) -> list[list[Place]]:
    """The places of the kept trials."""
    return places(kept_cells(kept), STUDY.cell["flavor"])


def of_kept(kept: Kept) -> Sheet:
    """The board of the kept trials."""
    return table(kept_places(kept), STUDY.cell["flavor"])


def criteria(kept: Kept) -> Sheet:
    """Each criterion with the sentence of the RFC and the origin of its bound."""
    del kept
    lines: list[list[Value]] = [
        [case(claim), section(claim), claim.sentence, claim.reading] for claim in claims_of(STUDY)
    ]
    return plain(lines, "case", "RFC 9743", "sentence", "criterion")


def left_open(kept: Kept) -> Sheet:
    """The verdicts of the board that Holm's method over all tests leaves open."""
    _, found = not_adjusted(kept_places(kept))
    lines: list[list[Value]] = [
        [case(one.claim), SHORT[response(one.claim).name], one.flavor, one.text] for one in found
    ]
    return plain(lines, "case", "figure", "sender", "without the method")


@dataclass(frozen=True)
class Change:
    """What a criterion measures of one sender less that of another, seed by seed."""

    claim: Claim
    difference: Contrast
    p: float
    """Adjusted by Holm's method over all criteria."""

    @property
    def differs(self) -> bool:
        """Whether the test finds a difference."""
        return self.p <= ALPHA


def changes(kept: Kept, before: str, after: str) -> Sequence[Change]:
    """Each criterion's figure of a sender less that of the sender before it."""
    cells = kept_cells(kept)
    found = [
        (claim, contrast([(1, by_seed(cells, claim, after)), (-1, by_seed(cells, claim, before))]))
        for claim in claims_of(STUDY)
    ]
    p_values = [one.p_against(0) for _, one in found]
    adjusted = holm([1.0 if p is None else p for p in p_values])
    return [Change(*one, p) for one, p in zip(found, adjusted, strict=True)]


def by_seed(cells: Sequence[Cell], claim: Claim, flavor: str) -> BySeed:
    """What a criterion measures of a sender, by the seed."""
    [cell] = [cell for cell in cells if cell.matches({"case": [case(claim)], "flavor": [flavor]})]
    return cell.metrics[response(claim).name]


def versions(kept: Kept) -> Sheet:
    """Version 3 of BBR less version 1, and the p of no difference."""
    lines: list[list[Value]] = []
    for one in changes(kept, "BBR", "BBRv3"):
        form, half = response(one.claim).form, one.difference.half_width
        shown = signed(format(one.difference.difference, f"+{form}"))
        shown += "" if half is None else f" ± {half:{form}}"
        p = "< 0.001" if one.p < 0.001 else f"{one.p:.3f}"
        lines.append([case(one.claim), SHORT[response(one.claim).name], shown, p])
    return plain(lines, "case", "figure", "BBRv3 less BBR", "p")


def counts(rows: Sequence[Sequence[Place]]) -> Mapping[str, Counter[Verdict]]:
    """Of each sender, how many criteria have which verdict, without those not measured
    and those of one seed."""
    found: dict[str, Counter[Verdict]] = {}
    for row in rows:
        for place in row:
            if place.figure is not None and place.figure.half_width is not None:
                found.setdefault(place.flavor, Counter())[place.finding.verdict] += 1
    return found


def not_adjusted(rows: Sequence[Sequence[Place]]) -> tuple[int, Sequence[Place]]:
    """The number of the tests, and the places that Holm's method over all of them leaves open.

    These have a verdict on the board, and their adjusted p is too large for one.
    """
    tested = [(place, place.p) for row in rows for place in row if place.p is not None]
    adjusted = holm([p for _, p in tested if p is not None])
    decided = (Verdict.HOLDS, Verdict.FAILS)
    found = [
        place
        for (place, _), p in zip(tested, adjusted, strict=True)
        if p > ALPHA and place.finding.verdict in decided
    ]
    return len(tested), found
