# SPDX-License-Identifier: GPL-2.0-only
"""Cells and verdicts of kept campaigns, computed again from a line for each trial."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from analysis.kept_campaign import read_kept
from analysis.kept_trials import FILE, Levels
from analysis.report import cell_tables, claim_tables
from analysis.report.model import Sheet
from analysis.report.pages import pages_of
from analysis.report.results import Results, results_of
from analysis.report.write import csv_text
from analysis.study import Study
from plan.plan import Plan


def campaigns(folder: Path) -> list[Path]:
    """The folders of a study's kept campaigns that have a line for each trial."""
    return sorted(path.parent for path in (folder / "results").glob(f"*/{FILE}"))


def tables(folder: Path, study: Study, planned: Mapping[Levels, Plan]) -> Mapping[str, str]:
    """The files of a kept campaign that follow from its trials alone: name -> text.

    Args:
        folder: of the campaign's kept results.
        planned: the plans of the experiment's cells.
    """
    results = results_of(read_kept(folder, study, planned), study, pages_of(study).checks)
    return {f"{name}.csv": csv_text(sheet) for name, sheet in _sheets(results)}


def _sheets(results: Results) -> Iterator[tuple[str, Sheet]]:
    yield "cells", cell_tables.every_cell(results)
    if results.findings:
        yield "claims", claim_tables.claims(results)
    if (one_draw := claim_tables.one_draw(results)) is not None:
        yield "one-draw", one_draw
