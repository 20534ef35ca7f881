# SPDX-License-Identifier: GPL-2.0-only
"""Writing a report: report.html, report.md with figures/, and tables/ as CSV."""

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from analysis.errors import ReportError
from analysis.records import CampaignRecords
from analysis.report import html, markdown
from analysis.report.build import Listener, build
from analysis.report.model import Gallery, Plot, Report, Section, Sheet
from analysis.report.svg import stand_alone
from analysis.study import NONE, Study

FOLDER = "report"


@dataclass(frozen=True, kw_only=True)
class Written:
    """Where a report was written."""

    html: Path
    markdown: Path
    tables: Path
    figures: Path


def write_report(
    campaign: CampaignRecords,
    study: Study = NONE,
    out: Path | str | None = None,
    listener: Listener = lambda _: None,
) -> Written:
    """Write the report of a campaign into `out` [the campaign's folder/report].

    study: what it was run for; without one the report is the generic one.
    listener: called with a word on what is being made. Files of the same name are replaced.
    Raises AnalysisError, one line, on bad claims or a folder that cannot be written.
    """
    folder = campaign.folder / FOLDER if out is None else Path(out)
    report = build(campaign, study, listener)
    written = Written(
        html=folder / "report.html",
        markdown=folder / "report.md",
        tables=folder / "tables",
        figures=folder / "figures",
    )
    try:
        _write_all(report, written)
    except OSError as error:
        raise ReportError(
            f"{error.filename or folder} cannot be written: {error.strerror}"
        ) from None
    return written


def _write_all(report: Report, written: Written) -> None:
    plots = list(plots_of(report.sections))
    for folder in (written.tables, *([written.figures] if plots else [])):
        folder.mkdir(parents=True, exist_ok=True)
    replace_file(written.html, html.render(report))
    replace_file(written.markdown, markdown.render(report, written.figures.name))
    for sheet in sheets_of(report):
        write_sheet(written.tables / f"{sheet.name}.csv", sheet)
    for plot in plots:
        replace_file(written.figures / f"{plot.name}.svg", stand_alone(plot.svg))


def write_sheet(path: Path, sheet: Sheet) -> None:
    """Write the table as CSV."""
    replace_file(path, csv_text(sheet))


def csv_text(sheet: Sheet) -> str:
    """The table as CSV, with all digits; a missing value is an empty field."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(column.name for column in sheet.columns)
    writer.writerows(sheet.rows)
    return text.getvalue()


def replace_file(path: Path, text: str) -> None:
    """Write a file, or leave the one that is there as it is and say which."""
    partial = path.with_name(f".{path.name}.partial")
    try:
        with partial.open("w", newline="", encoding="utf-8") as file:
            file.write(text)
        partial.replace(path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror, str(path)) from error


def sheets_of(report: Report) -> Iterator[Sheet]:
    """All tables that go to CSV."""
    for section in _unfolded(report.sections):
        yield from (part for part in section.parts if isinstance(part, Sheet))
    yield from report.files


def plots_of(sections: Sequence[Section]) -> Iterator[Plot]:
    """All plots that go to files."""
    for section in _unfolded(sections):
        for part in section.parts:
            if isinstance(part, Gallery):
                yield from part.plots


def _unfolded(sections: Sequence[Section]) -> Iterator[Section]:
    """All sections but the folded ones, which only the HTML file has."""
    for section in sections:
        if not section.folded:
            yield section
            yield from _unfolded(section.sections)
