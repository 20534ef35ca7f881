# SPDX-License-Identifier: GPL-2.0-only
"""A report as Markdown: tables as pipe tables, plots as links to files with their alt text."""

from collections.abc import Iterator
from html import escape

from analysis.report.model import Claims, Explore, Gallery, Part, Report, Section, Sheet, Source


def render(report: Report, figures: str) -> str:
    """The report as Markdown; `figures` is the folder that its links go to."""
    lines = [f"# {escape(report.title, quote=False)}", "", report.subtitle + ".", ""]
    for section in report.sections:
        lines += _section(section, 2, figures)
    return "\n".join(lines).rstrip() + "\n"


def _section(section: Section, level: int, figures: str) -> Iterator[str]:
    if section.folded or any(isinstance(part, Explore) for part in section.parts):
        return  # a trial's plots, what needs a script: the HTML file has them
    yield f"{'#' * level} {section.title}"
    yield ""
    for paragraph in section.paragraphs:
        yield paragraph
        yield ""
    for part in section.parts:
        yield from _part(part, figures)
        yield ""
    for child in section.sections:
        yield from _section(child, level + 1, figures)


def _part(part: Part, figures: str) -> Iterator[str]:
    if isinstance(part, Sheet):
        yield from _sheet(part)
    elif isinstance(part, Gallery):
        yield from (f"![{plot.alt}]({figures}/{plot.name}.svg)" for plot in part.plots)
    elif isinstance(part, Claims):
        for claim in part.claims:
            yield f"- “{claim.sentence}” ({claim.source}) {claim.reading}".rstrip()
            for method, verdict, evidence in claim.verdicts:
                yield f"  - **{verdict}** ({method}): {evidence}"
    elif isinstance(part, Source):
        yield from ("```", part.text.rstrip(), "```")


def _sheet(sheet: Sheet) -> Iterator[str]:
    yield f"{sheet.caption}:"
    yield ""
    yield from table(sheet)


def table(sheet: Sheet) -> Iterator[str]:
    """The lines of a pipe table."""
    yield _line([column.title for column in sheet.columns])
    yield _line(["---:" if column.numeric else "---" for column in sheet.columns])
    yield from map(_line, sheet.texts())


def _line(texts: list[str]) -> str:
    return "| " + " | ".join(text.replace("|", "\\|") for text in texts) + " |"
