# SPDX-License-Identifier: GPL-2.0-only
"""A path from a CSV file. Each row is a change of the path.

    time_s,rate_bit_per_s,down_delay_us,up_delay_us,loss,outage
    0,45000000,20000,25000,0,0
    14.98,,,,,1
    15.03,30000000,27500,31000,0.001,0

The columns may have any order. Only the column of the time is required:

    time_us or time_s    since the start of the trial, exact to the microsecond
    rate_bit_per_s       rate of the middle link, or 0; with all bits of cells or frames
    delay_us             one way
    loss                 share of the packets that the path loses
    outage               1: the link sends nothing; 0: it sends at its rate

The name of each column but the time may begin with `down_` (to the clients) or `up_`. The column
then applies to this direction. An empty value repeats the value of the row above. In the first row,
an empty value is the value of the still path. A line that begins with # is a comment.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any

from plan.errors import UsageError
from plan.near import choices
from plan.path import (
    LEAST_RATE,
    MOST_DELAY_US,
    MOST_RATE,
    MOST_ROWS,
    MOST_US,
    US_PER_S,
    Path,
    Row,
    Way,
    of_rows,
)
from plan.paths.site import FileName, Site, shown
from plan.queue import DIRECTIONS
from plan.schema import Within

NUMBER = re.compile(r"-?(\d+(\.\d*)?|\.\d+)", re.ASCII)
TIMES = ("time_us", "time_s")
VALUES = ("rate_bit_per_s", "delay_us", "loss", "outage")


@dataclass(frozen=True, kw_only=True)
class Settings:
    file: Annotated[
        FileName,
        "The name of a CSV file. cellbed looks for the file in the folder of the experiment file,"
        " and then in the folder of the file that it extends.",
    ]
    period_s: Annotated[
        float | None,
        Within(1e-6, 86_400),
        "After this time, the path repeats. Without this key, the values of the last row stay"
        " until the trial ends.",
    ] = None
    reorder: Annotated[
        bool,
        "true: a packet may overtake its predecessor when the delay jumps down. false: packets"
        " keep their order.",
    ] = False

    def path(self, site: Site) -> Path:
        """Return the path of the file.

        Raises:
            UsageError: the text is one line with the file, its line, the key, the value and what is
                allowed.
        """
        rows = Reader(self.file, site).rows()
        period_us = 0 if self.period_s is None else round(self.period_s * US_PER_S)
        if period_us and period_us <= rows[-1][0]:
            raise UsageError(
                f"topology.path.period_s = {self.period_s}: must be after the last time of"
                f" {self.file}, {rows[-1][0] / US_PER_S:g} s"
            )
        down, up = (way(rows, direction, period_us) for direction in DIRECTIONS)
        return Path(down=down, up=up, reorder=self.reorder)


def way(rows: Sequence[tuple[int, Mapping[str, Any]]], direction: str, period_us: int) -> Way:
    """Return the columns of one direction."""
    listed = [
        Row(
            time_us,
            0 if found[f"{direction}_outage"] else found[f"{direction}_rate_bit_per_s"],
            found[f"{direction}_delay_us"],
            found[f"{direction}_loss"],
            0,
        )
        for time_us, found in rows
    ]
    return of_rows(listed, period_us)


def separator(row: Sequence[str]) -> str:
    """Return a hint for a row with another separator than the comma; "" for all other rows."""
    sign = next((sign for sign in ";\t|" if len(row) == 1 and sign in row[0]), "")
    return f"; write a comma in place of {'a tab' if sign.isspace() else sign}" if sign else ""


class Reader:
    """Reads a file. `at` is the number of the current line, for error messages."""

    def __init__(self, name: str, site: Site) -> None:
        self.name = name
        self.site = site
        self.at = 0

    def rows(self) -> list[tuple[int, dict[str, Any]]]:
        """Return each row: its time [us] and all values, named with `down_` or `up_`."""
        table = csv.reader(self._lines(), strict=True)
        try:
            return self._read(next(table, []), table)
        except csv.Error as error:
            if "field larger than" in str(error):
                raise self.wrong(
                    f"a value has more than {csv.field_size_limit():_} letters"
                ) from error
            raise self.wrong(
                'this is no row of a CSV file: a value needs no quotes, and one that begins with "'
                ' must end with "'
            ) from error

    def _lines(self) -> Any:
        for line in self.site.lines(self.name):
            self.at += 1
            if line.strip() and not line.startswith("#"):
                yield line

    def _read(self, names: list[str], table: Any) -> list[tuple[int, dict[str, Any]]]:
        names = [name.strip() for name in names]
        if not names:
            raise UsageError(
                f"topology.path: {self.name}: the file is empty; its first row must name the"
                " columns, as time_s,rate_bit_per_s"
            )
        self._check_names(names)
        still = self.site.still
        values: dict[str, Any] = {}
        for direction in DIRECTIONS:
            known = (still.rate_bit_per_s, still.delay_us, 0.0, False)
            values |= {f"{direction}_{name}": v for name, v in zip(VALUES, known, strict=True)}
        found: list[tuple[int, dict[str, Any]]] = []
        for row in table:
            if len(row) != len(names):
                raise self.wrong(
                    f"the row has {len(row)} {'value' if len(row) == 1 else 'values'}, but the"
                    f" first row has {len(names)}{separator(row)}"
                )
            time_us, given = self._row(dict(zip(names, map(str.strip, row), strict=True)))
            if found and time_us <= found[-1][0]:
                raise self.wrong(
                    f"the time {time_us / US_PER_S:g} s must be after that of the row before,"
                    f" {found[-1][0] / US_PER_S:g} s"
                )
            if not found and time_us:
                found.append((0, values))
            values = values | given
            found.append((time_us, values))
            if len(found) > MOST_ROWS:
                raise self.wrong(f"this is row {len(found)}; allowed are at most {MOST_ROWS}")
        if not found:
            raise UsageError(f"topology.path: {self.name}: the file has no row with a time")
        return found

    def _check_names(self, names: list[str]) -> None:
        known = [*TIMES, *VALUES, *(f"{way}_{name}" for way in DIRECTIONS for name in VALUES)]
        if all(NUMBER.fullmatch(name) for name in names):
            raise self.wrong("the first row must name the columns, as time_s,rate_bit_per_s")
        for name in names:
            if name not in known:
                said = f"there is no column {shown(name)}" if name else "a column has no name"
                raise self.wrong(f"{said}; {choices(name, known)}{separator([name])}")
            if names.count(name) > 1:
                raise self.wrong(f"{name}: this column stands there twice")
        if sum(name in names for name in TIMES) != 1:
            raise self.wrong("the first row must name either time_us or time_s")

    def _row(self, row: Mapping[str, str]) -> tuple[int, dict[str, Any]]:
        given: dict[str, Any] = {}
        time_us = 0
        for name in sorted(row, key=lambda one: one.startswith(("down_", "up_"))):
            text = row[name]
            if name in TIMES:
                time_us = self._time(name, text)
                continue
            if not text:
                continue
            kind = name.removeprefix("down_").removeprefix("up_")
            ways = [way for way in DIRECTIONS if name.startswith(f"{way}_")] or DIRECTIONS
            value = READ[kind](self, name, text)
            given |= {f"{way}_{kind}": value for way in ways}
        return time_us, given

    def _time(self, name: str, text: str) -> int:
        scale = US_PER_S if name == "time_s" else 1
        time_us = self._number(name, text, 0, MOST_US / scale) * scale
        if time_us != int(time_us):
            raise self.wrong(f"{name} = {shown(text)}: a time has at most whole microseconds")
        return int(time_us)

    def _number(self, name: str, text: str, least: float, most: float) -> Decimal:
        words = f"allowed are {least:,.15g} to {most:,.15g}".replace(",", "_")
        if not NUMBER.fullmatch(text):
            raise self.wrong(
                f"{name} = {shown(text)}: must be a number in digits, without _ or e; {words}"
            )
        value = Decimal(text)
        if not least <= value <= most:
            raise self.wrong(f"{name} = {shown(text)}: {words}")
        return value

    def rate(self, name: str, text: str) -> int:
        value = self._number(name, text, 0, MOST_RATE)
        if value != int(value) or 0 < value < LEAST_RATE:
            raise self.wrong(
                f"{name} = {shown(text)}: must be a whole number; allowed are 0, or"
                f" {LEAST_RATE:_} to {MOST_RATE:_}"
            )
        return int(value)

    def delay(self, name: str, text: str) -> int:
        value = self._number(name, text, 0, MOST_DELAY_US)
        if value != int(value):
            raise self.wrong(f"{name} = {shown(text)}: must be a whole number of microseconds")
        return int(value)

    def loss(self, name: str, text: str) -> float:
        return float(self._number(name, text, 0, 1))

    def outage(self, name: str, text: str) -> bool:
        if text not in ("0", "1"):
            raise self.wrong(f"{name} = {shown(text)}: must be 0 or 1")
        return text == "1"

    def wrong(self, said: str) -> UsageError:
        return UsageError(f"topology.path: {self.name}, line {self.at}: {said}")


READ: Mapping[str, Callable[[Reader, str, str], Any]] = {
    "rate_bit_per_s": Reader.rate,
    "delay_us": Reader.delay,
    "loss": Reader.loss,
    "outage": Reader.outage,
}
