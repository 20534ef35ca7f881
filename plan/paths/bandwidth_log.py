# SPDX-License-Identifier: GPL-2.0-only
"""A path from the bandwidth log of a download over a mobile network: rates by bytes and times.

Each line has six columns, with blanks between them:

    1289406399 549692 59.851754 10.781778 248069 1008

They are: the time, in seconds or milliseconds since 1970; milliseconds since any moment; the
latitude; the longitude; the bytes received since the line above; the milliseconds since the line
above. The rate of a line is the quotient of the last two columns, and holds for these milliseconds.
The other columns are not used. After its last line, the log begins again.

Sources: Riiser, Vigmostad, Griwodz, Halvorsen: "Commute Path Bandwidth Traces from 3G Networks:
Analysis and Applications", MMSys 2013 (3G/HSDPA in Norway); van der Hooft, Petrangeli, Wauters,
Huysegems, Rondao Alface, Bostoen, De Turck: "HTTP/2-Based Adaptive Streaming of HEVC Video over
4G/LTE Networks", IEEE Communications Letters 20(11), 2016 (4G in Ghent).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from plan.errors import UsageError
from plan.path import LEAST_RATE, MOST_RATE, MOST_ROWS, MOST_US, Path, Row, Way
from plan.path import of_rows as columns
from plan.paths.site import DIGITS, Delay, FileName, Loss, Site, shown
from plan.schema import Within

COLUMNS = 6
US_PER_MS = 1000
MOST_BYTES = 10**12
MOST_MS = MOST_US // US_PER_MS
NUMBER = re.compile(r"-?\d+(\.\d*)?", re.ASCII)


@dataclass(frozen=True, kw_only=True)
class Settings:
    down: Annotated[
        FileName,
        "The file with the log of the link to the clients. cellbed looks for the file in the"
        " folder of the experiment file, and then in the folder of the file that it extends.",
    ]
    up: Annotated[
        FileName | None,
        "The file with the log of the link to the servers. Without this key, the link to the"
        " servers keeps `topology.rate_bit_per_s`.",
    ] = None
    scale: Annotated[
        float,
        Within(0.001, 1_000),
        "Each rate is multiplied by this number. Rates below 1,000 bit/s become 0.",
    ] = 1.0
    delay_us: Delay = None
    loss: Loss = 0.0

    def path(self, site: Site) -> Path:
        """Return the path of the logs.

        Raises:
            UsageError: the text is one line with the file, its line, the value and what is allowed.
        """
        still = site.still_with(self.delay_us, self.loss)
        up = columns([still]) if self.up is None else self._way(self.up, site, still)
        return Path(down=self._way(self.down, site, still), up=up)

    def _way(self, name: str, site: Site, still: Row) -> Way:
        rows: list[Row] = []
        time_us = 0
        for rate_bit_per_s, ms in rates(name, site, self.scale):
            if not rows or rate_bit_per_s != rows[-1].rate_bit_per_s:
                rows.append(still._replace(time_us=time_us, rate_bit_per_s=rate_bit_per_s))
            time_us += ms * US_PER_MS
        if not rows:
            raise UsageError(f"topology.path: {name}: the file has no line of a bandwidth log")
        if not any(row.rate_bit_per_s for row in rows):
            raise UsageError(f"topology.path: {name}: the log has no rate of {LEAST_RATE} bit/s")
        if len(rows) > MOST_ROWS or time_us > MOST_US:
            raise UsageError(
                f"topology.path: {name}: the log has {len(rows)} different rates in"
                f" {time_us // 10**6} s; allowed are at most {MOST_ROWS} in {MOST_US // 10**6} s"
            )
        return columns(rows, time_us)


def rates(name: str, site: Site, scale: float) -> Iterator[tuple[int, int]]:
    """Yield the rate [bit/s] and the duration [ms] of each line."""
    for number, line in enumerate(site.lines(name), 1):
        values = line.split()
        if not values:
            continue
        where = f"topology.path: {name}, line {number}"
        if len(values) != COLUMNS:
            raise UsageError(
                f"{where}: {shown(line)}: must have {COLUMNS} columns with blanks between them,"
                f" not {len(values)}"
            )
        wrong = next((value for value in values if not NUMBER.fullmatch(value)), None)
        if wrong is not None:
            raise UsageError(f"{where}: {shown(wrong)}: must be a number in digits")
        received = whole(values[4], 0, MOST_BYTES, f"{where}, column 5 (bytes)")
        ms = whole(values[5], 1, MOST_MS, f"{where}, column 6 (milliseconds)")
        rate = round(received * 8 * 1000 / ms * scale)
        if rate > MOST_RATE:
            raise UsageError(
                f"{where}: {received} bytes in {ms} ms are {rate} bit/s; allowed are at most"
                f" {MOST_RATE}; a smaller topology.path.scale makes all rates smaller"
            )
        yield (rate if rate >= LEAST_RATE else 0), ms


def whole(text: str, least: int, most: int, where: str) -> int:
    """Return a whole number within a range."""
    if not DIGITS.fullmatch(text) or not least <= int(text) <= most:
        raise UsageError(
            f"{where}: {shown(text)}: must be a whole number; allowed are {least} to {most}"
        )
    return int(text)
