# SPDX-License-Identifier: GPL-2.0-only
"""What its report has beside the generic one, and the tables of its README."""

from __future__ import annotations

from analysis.report import kept_sheets
from analysis.report.model import Gallery, Section
from analysis.report.pages import Pages
from analysis.report.results import Results
from studies.l4s import by_trip, findings, plots, two_flows

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


PAGES = Pages(
    sections=[delays],
    tables={
        "queues": kept_sheets.cells(findings.QUEUES, FIGURES, "queue", "flows"),
        "targets": kept_sheets.cells(findings.TARGETS, FIGURES, "target"),
        "phases": kept_sheets.cells(findings.PHASES, FIGURES, "longer"),
        "prague": by_trip.verdicts,
        "two": two_flows.verdicts,
        "claims": kept_sheets.claims(findings.QUEUES, "seeds"),
    },
    numbers={
        "queues": findings.queues,
        "targets": findings.targets,
        "phases": findings.phases,
        "prague": by_trip.numbers,
        "two": two_flows.numbers,
    },
)
