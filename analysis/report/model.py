# SPDX-License-Identifier: GPL-2.0-only
"""What a report is made of, whatever it is written as: sections of text, tables and plots."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Value = str | float | int | None

MISSING = "–"
"""What a reader sees where there is no value; a CSV has an empty field."""


@dataclass(frozen=True, kw_only=True)
class Column:
    """A table's column: its name in a CSV, what it is titled elsewhere, and its numbers' form."""

    name: str
    title: str
    form: str = ""

    @property
    def numeric(self) -> bool:
        """Whether it holds numbers, set flush right."""
        return bool(self.form)

    def text(self, value: Value) -> str:
        """A value as a reader sees it."""
        if value is None:
            return MISSING
        if self.form and not isinstance(value, str):
            return signed(format(value, self.form))
        return str(value)


def listed(words: Iterable[str]) -> str:
    """One, two and three."""
    *others, last = words
    return f"{', '.join(others)} and {last}" if others else last


def signed(text: str) -> str:
    """A formatted number with a true minus sign, and none before what rounds to zero."""
    digits = text.lstrip("+-")
    return digits if not digits.strip("0.,") else text.replace("-", "−")


@dataclass(frozen=True, kw_only=True)
class Sheet:
    """A table. `name` is that of its CSV file; `heads` leading columns name the row."""

    name: str
    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Value]]
    heads: int = 1

    def texts(self) -> list[list[str]]:
        """All values as a reader sees them."""
        return [
            [column.text(value) for column, value in zip(self.columns, row, strict=True)]
            for row in self.rows
        ]


def plain(rows: Sequence[Sequence[Value]], *heads: str | tuple[str, str]) -> Sheet:
    """A table without a name; heads: the title of a column, or title and form."""
    both = [(head, "") if isinstance(head, str) else head for head in heads]
    columns = [Column(name=title, title=title, form=form) for title, form in both]
    return Sheet(name="", caption="", columns=columns, rows=rows)


@dataclass(frozen=True, kw_only=True)
class Plot:
    """A plot: `svg` takes its colours from the page's style; `alt` says what is to be seen.

    picture: the same for a page's script (analysis/report/picture.py), where it can be had.
    """

    name: str
    title: str
    alt: str
    svg: str = field(repr=False)
    picture: Mapping[str, Any] | None = field(default=None, repr=False)


@dataclass(frozen=True, kw_only=True)
class ClaimText:
    """A claim as the reader sees it: its words, and (method, verdict, evidence) of each."""

    sentence: str
    source: str
    reading: str
    verdicts: Sequence[tuple[str, str, str]]


@dataclass(frozen=True, kw_only=True)
class Claims:
    """A list of claims under one heading."""

    claims: Sequence[ClaimText]


@dataclass(frozen=True, kw_only=True)
class Gallery:
    """Plots that stand side by side where there is room."""

    plots: Sequence[Plot]


@dataclass(frozen=True, kw_only=True)
class Source:
    """Verbatim text, such as the experiment file."""

    text: str


@dataclass(frozen=True, kw_only=True)
class Explore:
    """The campaign trial by trial, for an HTML page's script: its data and its library, packed."""

    data: str = field(repr=False)
    library: str = field(repr=False)


Part = Sheet | Gallery | Claims | Source | Explore


@dataclass(frozen=True, kw_only=True)
class Section:
    """A heading, paragraphs, and what stands under them.

    folded: it opens on demand; opened: a folded one that is open at first.
    """

    id: str
    title: str
    paragraphs: Sequence[str] = ()
    parts: Sequence[Part] = ()
    sections: Sequence["Section"] = ()
    folded: bool = False
    opened: bool = False


@dataclass(frozen=True, kw_only=True)
class Report:
    """A whole report; `files` are tables that go to CSV only."""

    title: str
    subtitle: str
    sections: Sequence[Section]
    files: Sequence[Sheet] = ()
