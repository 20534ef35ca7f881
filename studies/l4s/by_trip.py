# SPDX-License-Identifier: GPL-2.0-only
"""Prague or DCTCP beside CUBIC with several round trips: the published limits for each sender.

The claims of claims.toml are about DCTCP. Here the same sentences and limits judge the kept trials
of both senders, each with each round trip.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from analysis import kept_trials
from analysis.cells import Cell
from analysis.claims import Claim, Evidence, Method, Verdict, claims_of
from analysis.kept import Kept
from analysis.report.model import Sheet, Value, plain
from analysis.report.sentences import Number, Numbers
from analysis.statistics import Estimate, estimate
from studies.l4s.study import STUDY

CAMPAIGN = "l4s-prague"
SENDERS = ("Prague", "DCTCP")
LIMITS = (
    ("low-p99", "99 % of the scalable sender (ms)", ".2f"),
    ("low-median", "median of the scalable sender (ms)", ".2f"),
    ("low-mean", "mean of the scalable sender (ms)", ".2f"),
    ("low-loss", "segments that it sent again", ".1f"),
    ("low-full", "efficiency", ".3f"),
    ("classic-target", "mean of CUBIC (ms)", ".1f"),
    ("share-rates", "ratio of the rates", ".2f"),
    ("share-windows", "ratio of the windows", ".2f"),
)
"""A claim, what a row of the table calls its figure, and its form."""
WORST = {
    "mean": "low_mean_ms",
    "p99": "low_p99_ms",
    "median": "low_median_ms",
    "rates": "rate_ratio",
}
"""What a number's name has of the worst round trip, and its response."""
WORDS = {"at_least": "≥", "at_most": "≤"}


def cells(kept: Kept, campaign: str = CAMPAIGN) -> list[Cell]:
    """The cells of the kept trials, in their order."""
    return kept_trials.cells_of(kept_trials.read(kept.folder / campaign / kept_trials.FILE))


def trips(some: Sequence[Cell]) -> list[str]:
    """The round trips, in their order."""
    return list(dict.fromkeys(cell.levels["trip"] for cell in some))


def judged(claim: Claim, some: Sequence[Cell], sender: str, trip: str) -> Verdict:
    """The verdict on one cell, by its own interval over the seeds."""
    where = {"sender": [sender], "trip": [trip]}
    asked = replace(claim, parameters={**claim.parameters, "where": where})
    return asked.on(Evidence(some, STUDY, Method.SEEDS)).verdict


def limits(claim: Claim) -> str:
    """The limits of a claim: ≥ 0.5, ≤ 2."""
    return ", ".join(
        f"{word} {claim.parameters[key]:g}"
        for key, word in WORDS.items()
        if claim.parameters.get(key) is not None
    )


def verdicts(kept: Kept) -> Sheet:
    """A row for each claim and sender: the figure with each round trip, and the verdict."""
    some, known = cells(kept), {claim.id: claim for claim in claims_of(STUDY)}
    lines: list[list[Value]] = []
    for name, title, form in LIMITS:
        claim = known[name]
        for sender in SENDERS:
            found = [text(claim, some, sender, trip, form) for trip in trips(some)]
            lines.append([title, limits(claim), sender, *found])
    return plain(lines, "figure", "limits", "sender", *trips(some))


def text(claim: Claim, some: Sequence[Cell], sender: str, trip: str, form: str) -> str | None:
    """The figure of a cell, half of its interval, and the verdict."""
    [cell] = [one for one in some if one.matches({"sender": [sender], "trip": [trip]})]
    figure = cell.estimate(str(claim.parameters["response"]))
    if figure is None:
        return None
    return f"{shown(figure, form)}, {judged(claim, some, sender, trip).value}"


def shown(figure: Estimate, form: str) -> str:
    """A mean and half of its interval."""
    return f"{figure.mean:{form}} ± {figure.half_width or 0:{form}}"


def numbers(kept: Kept) -> Numbers:
    """Each response of each sender with each round trip, and how many verdicts hold."""
    some, known = cells(kept), {claim.id: claim for claim in claims_of(STUDY)}
    manifest = kept.manifest(CAMPAIGN)
    found: dict[str, Number] = {
        "trials": manifest["trials"],
        "seeds": len(manifest["seeds"]),
        "trips": len(trips(some)),
    }
    found |= of_cells(some)
    for sender in SENDERS:
        found |= change(some, sender)
        found |= worst(some, sender)
        found |= values(some, sender)
        for claim in known.values():
            of = [judged(claim, some, sender, trip) for trip in trips(some)]
            key = f"{sender}_{claim.id}".lower().replace("-", "_")
            found[f"{key}_holds"] = of.count(Verdict.HOLDS)
            found[f"{key}_undecided"] = of.count(Verdict.UNDECIDED)
    return found


def of_cells(some: Sequence[Cell]) -> dict[str, Number]:
    """Mean and half of the interval of each response: prague_8_efficiency, prague_8_..._half."""
    found: dict[str, Number] = {}
    for cell in some:
        name = f"{cell.levels['sender']}_{cell.levels['trip'].removesuffix(' ms')}".lower()
        for response in cell.metrics:
            if (figure := cell.estimate(response)) is not None:
                found[f"{name}_{response}"] = figure.mean
                found[f"{name}_{response}_half"] = figure.half_width
    return found


def worst(some: Sequence[Cell], sender: str) -> Numbers:
    """The round trip with the longest delay, or with the ratio of the rates farthest from 1:
    prague_worst_p99_trip, prague_worst_p99 and prague_worst_p99_half."""
    found: dict[str, Number] = {}
    for name, response in WORST.items():
        figures = {
            cell.levels["trip"]: figure
            for cell in some
            if cell.matches({"sender": [sender]})
            and (figure := cell.estimate(response)) is not None
        }
        if not figures:
            continue
        far = abs_log if response == "rate_ratio" else float
        trip = max(figures, key=lambda one: far(figures[one].mean))
        key = f"{sender}_worst_{name}".lower()
        found |= {
            f"{key}_trip": trip,
            key: figures[trip].mean,
            f"{key}_half": figures[trip].half_width,
        }
    return found


def abs_log(ratio: float) -> float:
    """How far a ratio is from 1; a half is as far as 2."""
    return abs(math.log(ratio))


def values(some: Sequence[Cell], sender: str) -> Numbers:
    """How many values the seeds of a cell have at least and at most, of the median and the 99th
    percentile: dctcp_median_values_least, dctcp_median_values_most."""
    found: dict[str, Number] = {}
    for name in ("median", "p99"):
        counts = [
            len(set(cell.metrics[WORST[name]].values()))
            for cell in some
            if cell.matches({"sender": [sender]}) and WORST[name] in cell.metrics
        ]
        if counts:
            key = f"{sender}_{name}_values".lower()
            found |= {f"{key}_least": min(counts), f"{key}_most": max(counts)}
    return found


def change(some: Sequence[Cell], sender: str) -> Numbers:
    """The ratio of the rates with the longest round trip less that with the shortest, by seed."""
    ends = trips(some)[0], trips(some)[-1]
    short, long = (
        cell.metrics["rate_ratio"]
        for trip in ends
        for cell in some
        if cell.matches({"sender": [sender], "trip": [trip]})
    )
    one = estimate([long[seed] - short[seed] for seed in short if seed in long])
    name = f"{sender}_change".lower()
    return {name: one.mean, f"{name}_half": one.half_width}
