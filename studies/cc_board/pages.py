# SPDX-License-Identifier: GPL-2.0-only
"""The board in its report, and the tables and sentences of its README."""

from __future__ import annotations

from dataclasses import replace

from analysis.report.model import Section
from analysis.report.pages import Pages
from analysis.report.results import Results
from studies.cc_board import board, findings


def section(results: Results) -> Section | None:
    """The board of the campaign's own trials; None without its factors."""
    if not {"case", "flavor"} <= set(results.campaign.factors):
        return None
    flavors = results.levels_of("flavor")
    sheet = board.table(board.places(results.cells, flavors), flavors)
    return Section(
        id="board",
        title="Board",
        paragraphs=[
            "Means with 95 % intervals over the seeds, and whether they surely keep the bound."
            " The bounds are the board's own; the RFC gives none."
        ],
        parts=[replace(sheet, name="board", caption="Cases and senders", heads=3)],
    )


PAGES = Pages(
    sections=[section],
    tables={
        "board": board.of_kept,
        "criteria": board.criteria,
        "tests": board.left_open,
        "versions": board.versions,
    },
    numbers={"board": findings.board_numbers},
)
