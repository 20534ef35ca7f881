# SPDX-License-Identifier: GPL-2.0-only
"""What its report has beside the generic one, and the tables of its README."""

from analysis.report import kept_sheets
from analysis.report.model import Gallery, Section
from analysis.report.pages import Pages
from analysis.report.results import Results
from studies.leo import findings, plots, shares

FIGURES = (
    ("efficiency", "efficiency", ".3f"),
    ("throughput_mbit_per_s", "Mbit/s", ".2f"),
    ("fairness", "fairness", ".3f"),
    ("queue_delay_ms", "queue (ms)", ".1f"),
    ("retransmits", "sent again", ",.0f"),
    ("use_after_handover", "after minus before", "+.3f"),
)

def by_sender(results: Results) -> Section | None:
    """A picture for each response; None without a campaign of this study's factors."""
    if "sender" not in results.campaign.factors:
        return None
    cells = results.every_cell
    drawn = [
        plots.by_sender(cells, name, label)
        for name, label in plots.LABELS.items()
        if any(cell.values(name) for cell in cells)
    ]
    return Section(id="by-sender", title="By sender", parts=[Gallery(plots=drawn)])


PAGES = Pages(
    sections=[by_sender],
    tables={
        "single": kept_sheets.cells(findings.SINGLE, FIGURES, "network", "sender"),
        "starlink": kept_sheets.claims(
            findings.SINGLE, "replications", "starlink-bbr", "starlink-ratio"
        ),
        "paths": kept_sheets.cells(findings.PATHS_OF_TWO, FIGURES, "network", "flows", "sender"),
        "flows": kept_sheets.claims(findings.PATHS_OF_TWO, "replications", "starlink-single"),
        "factors": kept_sheets.cells(findings.FACTORS, FIGURES, "buffer", "policy", "sender"),
        "ubr": kept_sheets.claims(findings.FACTORS, "replications", "ubr"),
    },
    numbers={
        "above": findings.above,
        "single": findings.single,
        "one-path": findings.one_path,
        "flows": findings.flows,
        "slower": findings.slower,
        "factors": findings.factors,
        "shares": shares.intervals,
        "least-fair": findings.least_fair,
    },
)
