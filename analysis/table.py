# SPDX-License-Identifier: GPL-2.0-only
"""Result tables as CSV: read, select rows, and turn columns into numbers.

Every error is one line that names the file and the column.
"""

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from analysis.errors import TableError
from analysis.files import regular

Row = Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Table:
    """Rows of text under named columns; `source` is what error messages call it."""

    source: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]

    def require(self, *columns: str) -> None:
        """Raise TableError for the first of `columns` that the table lacks."""
        for column in columns:
            if column not in self.columns:
                known = ", ".join(self.columns)
                raise TableError(
                    f"{self.source}: the table has no column '{column}' (it has: {known})"
                )

    def where(self, column: str, value: str) -> "Table":
        """The rows whose `column` holds `value` (its text, or the same number)."""
        self.require(column)
        rows = tuple(row for row in self.rows if _same(row[column], value))
        if not rows:
            held = ", ".join(self.levels(column))
            raise TableError(
                f"{self.source}: column '{column}' never has the value '{value}' (it has: {held})"
            )
        return Table(source=self.source, columns=self.columns, rows=rows)

    def levels(self, column: str) -> tuple[str, ...]:
        """The different values of `column`, in the order in which they first appear."""
        self.require(column)
        return tuple(dict.fromkeys(row[column] for row in self.rows))

    def numbers(self, column: str) -> list[float]:
        """`column` as finite numbers, one a row; raises TableError naming the row otherwise."""
        self.require(column)
        return [
            _number(row[column], f"{self.source}: column '{column}', data row {place}")
            for place, row in enumerate(self.rows, start=1)
        ]


def read_csv(path: Path | str) -> Table:
    """The table in a CSV file: comma-separated UTF-8, first line the column names."""
    if Path(path).is_dir():
        raise TableError(f"{path} is a folder; name a CSV file, as report/tables/trials.csv in it")
    try:
        with regular(Path(path)).open(newline="", encoding="utf-8-sig") as file:
            lines = list(csv.reader(file, strict=True))
    except OSError as error:
        raise TableError(f"the table {path} cannot be read: {error.strerror}") from None
    except (UnicodeDecodeError, csv.Error):
        raise TableError(
            f"{path} is no CSV table in UTF-8: write a line for each row, commas between the values"
        ) from None
    lines = [line for line in lines if any(field.strip() for field in line)]
    if not lines:
        raise TableError(f"{path}: the table is empty; its first line must name the columns")
    return _checked(str(path), lines[0], lines[1:])


def _many(things: Sequence[str], name: str) -> str:
    return f"{len(things)} {name}" if len(things) == 1 else f"{len(things)} {name}s"


def _checked(source: str, header: Sequence[str], lines: Sequence[Sequence[str]]) -> Table:
    columns = tuple(name.strip() for name in header)
    for column in columns:
        if columns.count(column) > 1:
            raise TableError(f"{source}: two columns have the name '{column}'")
    for place, line in enumerate(lines, start=1):
        if len(line) != len(columns):
            raise TableError(
                f"{source}: data row {place} has {_many(line, 'field')}, but the table has"
                f" {_many(columns, 'column')}"
            )
    if not lines:
        raise TableError(f"{source}: the table has column names but no rows")
    rows = tuple(
        dict(zip(columns, (field.strip() for field in line), strict=True)) for line in lines
    )
    return Table(source=source, columns=columns, rows=rows)


def _number(text: str, where: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise TableError(f"{where}: '{text}' is not a number")
    return value


def _same(text: str, wanted: str) -> bool:
    """Whether two fields agree as text or as numbers (2, 2.0)."""
    if text == wanted:
        return True
    try:
        return float(text) == float(wanted)
    except ValueError:
        return False
