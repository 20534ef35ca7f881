# SPDX-License-Identifier: GPL-2.0-only
"""A path from a log of G-NetTrack, a program that logs what a phone gets from a mobile network.

The log is a CSV file whose first row names the columns. Three of them count, wherever they stand:

    Timestamp     the local time of the row, in whole seconds: 2019.12.16_13.40.04
    DL_bitrate    received by the phone [kbit/s]
    UL_bitrate    sent by the phone [kbit/s]

A rate holds from the time of its row to that of the next row. Some seconds have several rows: the
last of them counts. One second after its last row, the log begins again.

The rates are those that the phone used, so they are small while it asked for little.

Source: Raca, Leahy, Sreenan, Quinlan: "Beyond Throughput, the Next Generation: a 5G Dataset with
Channel and Context Metrics", MMSys 2020; Raca, Quinlan, Zahran, Sreenan: "Beyond Throughput: a 4G
LTE Dataset with Channel and Context Metrics", MMSys 2018.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from plan.errors import UsageError
from plan.path import LEAST_RATE, MOST_RATE, MOST_US, US_PER_S, Path, Row, Way
from plan.path import of_rows as columns
from plan.paths.site import Delay, FileName, Loss, Site, shown
from plan.schema import Within, ZeroOr

TIME, DOWN, UP = "Timestamp", "DL_bitrate", "UL_bitrate"
FORM = "%Y.%m.%d_%H.%M.%S"
MOST_KBIT_PER_S = 10**8
CLOCK_S = 1  # the clock of a phone may be set back by as much


@dataclass(frozen=True, kw_only=True)
class Settings:
    file: Annotated[
        FileName,
        "The file with the log. cellbed looks for the file in the folder of the experiment file,"
        " and then in the folder of the file that it extends.",
    ]
    up: Annotated[
        bool,
        "true: the link to the servers has the rates of the column UL_bitrate. false: it keeps"
        " `topology.rate_bit_per_s`.",
    ] = False
    scale: Annotated[float, Within(0.001, 1_000), "Each rate is multiplied by this number."] = 1.0
    least_rate_bit_per_s: Annotated[
        int,
        ZeroOr(LEAST_RATE, MOST_RATE),
        "Smaller rates become this rate. If this key is 0, rates below 1,000 bit/s become 0.",
    ] = 0
    delay_us: Delay = None
    loss: Loss = 0.0

    def path(self, site: Site) -> Path:
        """Return the path of the log.

        Raises:
            UsageError: the text is one line with the file, its line, the value and what is allowed.
        """
        still = site.still_with(self.delay_us, self.loss)
        found = self._rates(site)
        down = self._way(still, {at: rates[0] for at, rates in found.items()})
        if not self.up:
            return Path(down=down, up=columns([still]))
        return Path(down=down, up=self._way(still, {at: rates[1] for at, rates in found.items()}))

    def _way(self, still: Row, found: dict[int, int]) -> Way:
        if not any(found.values()):
            raise UsageError(
                f"topology.path: {self.file}: the log has no rate of {LEAST_RATE} bit/s; set"
                " topology.path.least_rate_bit_per_s"
            )
        rows: list[Row] = []
        for time_us, rate_bit_per_s in found.items():
            if not rows or rate_bit_per_s != rows[-1].rate_bit_per_s:
                rows.append(still._replace(time_us=time_us, rate_bit_per_s=rate_bit_per_s))
        return columns(rows, max(found) + US_PER_S)

    def _rates(self, site: Site) -> dict[int, list[int]]:
        """Return both rates [bit/s] by the time of the path [us]."""
        first: datetime | None = None
        last_us = 0
        found: dict[int, list[int]] = {}
        for number, (time, *texts) in rows_of(self.file, site):
            where = f"topology.path: {self.file}, line {number}"
            moment = moment_of(time, where)
            first = first or moment
            time_us = round((moment - first).total_seconds()) * US_PER_S
            if not last_us - CLOCK_S * US_PER_S <= time_us < MOST_US:
                raise UsageError(
                    f"{where}: {time}: must not be before the row above, and less than a day after"
                    " the first row"
                )
            last_us = max(last_us, time_us)
            found[last_us] = [
                self._rate(name, text, where) for name, text in zip((DOWN, UP), texts, strict=True)
            ]
        if not found:
            raise UsageError(f"topology.path: {self.file}: the log has no row with a time")
        return found

    def _rate(self, name: str, text: str, where: str) -> int:
        if not re.fullmatch(r"\d+(\.\d+)?", text, re.ASCII) or float(text) > MOST_KBIT_PER_S:
            raise UsageError(
                f"{where}: {name} = {shown(text)}: must be a number of kbit/s; allowed are 0 to"
                f" {MOST_KBIT_PER_S}"
            )
        rate = round(float(text) * 1000 * self.scale)
        if rate > MOST_RATE:
            raise UsageError(
                f"{where}: {name} = {text}: with topology.path.scale = {self.scale:g}, this is"
                f" {rate} bit/s; allowed are at most {MOST_RATE}; make the scale smaller"
            )
        return max(rate if rate >= LEAST_RATE else 0, self.least_rate_bit_per_s)


def rows_of(name: str, site: Site) -> Iterator[tuple[int, list[str]]]:
    """Yield the number of each line behind the first row, and its three values."""
    places: list[int] = []
    names: Sequence[str] = ()
    for number, line in enumerate(site.lines(name), 1):
        where = f"topology.path: {name}, line {number}"
        try:
            values = [value.strip() for value in next(csv.reader([line]), [])]
        except csv.Error as error:
            raise UsageError(f"{where}: {shown(line)}: {error}") from None
        if not values:
            continue
        if not places:
            names = values
            for column in (TIME, DOWN, UP):
                if names.count(column) != 1:
                    raise UsageError(
                        f"{where}: {shown(line)}: the first row must name the columns {TIME},"
                        f" {DOWN} and {UP}, each once"
                    )
                places.append(names.index(column))
            continue
        if len(values) != len(names):
            raise UsageError(
                f"{where}: the row has {len(values)} values, but the first row has {len(names)}"
            )
        yield number, [values[place] for place in places]


def moment_of(text: str, where: str) -> datetime:
    """Return a moment of the log."""
    try:
        return datetime.strptime(text, FORM)
    except ValueError as error:
        raise UsageError(
            f"{where}: {TIME} = {shown(text)}: must be a time as 2019.12.16_13.40.04"
        ) from error
