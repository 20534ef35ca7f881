# SPDX-License-Identifier: GPL-2.0-only
"""What its report has beside the generic one, and the tables of its README."""

from __future__ import annotations

from collections.abc import Callable

from analysis.kept import Kept, number
from analysis.report.model import Gallery, Section, Sheet, Value, plain
from analysis.report.pages import Pages
from analysis.report.results import Results
from studies.l4s import findings, plots

Table = Callable[[Kept], Sheet]
FIGURES = (
    ("efficiency", "efficiency", ".3f"),
    ("rate_ratio", "rates", ".2f"),
    ("window_ratio", "windows", ".2f"),
    ("round_trip_ratio", "round trips", ".2f"),
    ("low_median_ms", "DCTCP median (ms)", ".2f"),
    ("low_mean_ms", "mean", ".2f"),
    ("low_p99_ms", "99 %", ".2f"),
    ("classic_mean_ms", "CUBIC mean (ms)", ".2f"),
    ("classic_p99_ms", "99 %", ".2f"),
)


def delays(results: Results) -> Section | None:
    """The picture of the delays; None without a campaign of this study's factors."""
    if "queue" not in results.campaign.factors:
        return None
    return Section(id="delays", title="Delays", parts=[Gallery(plots=[plots.delays(results)])])


def cells(campaign: str, *factors: str) -> Table:
    """The cells of a campaign, with rates and delays."""

    def table(kept: Kept) -> Sheet:
        rows: list[list[Value]] = [
            [*(row[factor] for factor in factors), int(row["seeds"]),
             *(number(row, name) for name, _, _ in FIGURES)]
            for row in kept.cells(campaign).rows
        ]  # fmt: skip
        heads = [(title, form) for _, title, form in FIGURES]
        return plain(rows, *factors, ("seeds", "d"), *heads)

    return table


def claims(campaign: str) -> Table:
    """The claims that a campaign decides, each with its verdict."""

    def table(kept: Kept) -> Sheet:
        rows: list[list[Value]] = [
            [row["sentence"], row["source"], row["reading"], row["verdict_seeds"],
             row["evidence_seeds"]]
            for row in kept.claims(campaign).rows
        ]  # fmt: skip
        return plain(rows, "sentence", "source", "reading", "verdict", "measured")

    return table


PAGES = Pages(
    sections=[delays],
    tables={
        "queues": cells(findings.QUEUES, "queue", "flows"),
        "targets": cells(findings.TARGETS, "target"),
        "phases": cells(findings.PHASES, "longer"),
        "claims": claims(findings.QUEUES),
    },
    numbers={
        "queues": findings.queues,
        "targets": findings.targets,
        "phases": findings.phases,
    },
)
