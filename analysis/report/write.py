# SPDX-License-Identifier: GPL-2.0-only
"""Writing a report: report.html, report.md with figures/, and tables/ as CSV."""

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from analysis.errors import ReportError
from analysis.records import read_campaign
from analysis.report import html, markdown
from analysis.report.build import Listener, build
from analysis.report.model import Gallery, Plot, Report, Section, Sheet
from analysis.report.svg import stand_alone

FOLDER = "report"


@dataclass(frozen=True, kw_only=True)
class Written:
    """Where a report was written."""

    html: Path
    markdown: Path
    tables: Path
    figures: Path


def write_report(
    campaign: Path | str, out: Path | str | None = None, listener: Listener = lambda _: None
) -> Written:
    """Write the report of the campaign directory into `out` [CAMPAIGN/report].

    listener: called with a word on what is being made. Files of the same name are replaced.
    Raises AnalysisError, one line, on a bad campaign or a folder that cannot be written.
    """
    folder = Path(campaign) / FOLDER if out is None else Path(out)
    report = build(read_campaign(campaign), listener)
    written = Written(
        html=folder / "report.html",
        markdown=folder / "report.md",
        tables=folder / "tables",
        figures=folder / "figures",
    )
    try:
        _write_all(report, written)
    except OSError as error:
        raise ReportError(f"{error.filename or folder}: cannot write: {error.strerror}") from None
    return written


def _write_all(report: Report, written: Written) -> None:
    for folder in (written.tables, written.figures):
        folder.mkdir(parents=True, exist_ok=True)
    written.html.write_text(html.render(report), encoding="utf-8")
    written.markdown.write_text(markdown.render(report, written.figures.name), encoding="utf-8")
    for sheet in _sheets(report):
        _write_sheet(written.tables / f"{sheet.name}.csv", sheet)
    for plot in _plots(report.sections):
        path = written.figures / f"{plot.name}.svg"
        path.write_text(stand_alone(plot.svg), encoding="utf-8")


def _write_sheet(path: Path, sheet: Sheet) -> None:
    """The table with all digits; a missing value is an empty field."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(column.name for column in sheet.columns)
        writer.writerows(sheet.rows)


def _sheets(report: Report) -> Iterator[Sheet]:
    for section in _unfolded(report.sections):
        yield from (part for part in section.parts if isinstance(part, Sheet))
    yield from report.files


def _plots(sections: Sequence[Section]) -> Iterator[Plot]:
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
