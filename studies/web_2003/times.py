# SPDX-License-Identifier: GPL-2.0-only
"""Response times of a trial's exchanges, from its exchanges.csv."""

from dataclasses import dataclass, fields
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from analysis.errors import RecordError
from analysis.files import regular
from analysis.records import Record

Values = NDArray[np.float64]
Flags = NDArray[np.bool_]
NS_PER_MS = 1e6
NEEDED = (
    "round_trip_ns", "response_bytes", "begun_ns", "sent_ns", "first_byte_ns", "last_byte_ns",
    "retransmits", "marks",
)  # fmt: skip
LATER = "resent_bytes"  # older records have it not


@dataclass(frozen=True, kw_only=True)
class Exchanges:
    """Of one trial, a value an exchange, in the order of the trace; times in ms.

    Attributes:
        begun_ms: from the trial's start; nan where it was not begun.
        response_ms: from before connect() (of later exchanges of a connection: before the request)
            to the last byte; infinite where it did not come.
        first_ms, last_ms: from the request's last byte to the response's first and last.
        retransmits, marks: of the connection's server; nan where it is not known. A retransmit may
            be a SYN/ACK or a FIN; a mark is a segment acknowledged with an echo, so that one
            mark of a router counts about a window.
        resent_bytes: what it sent again of its responses.
    """

    begun_ms: Values
    response_ms: Values
    first_ms: Values
    last_ms: Values
    response_bytes: Values
    round_trip_ms: Values
    retransmits: Values
    marks: Values
    resent_bytes: Values

    def of(self, chosen: Flags) -> "Exchanges":
        """Some of them."""
        columns = {field.name: getattr(self, field.name)[chosen] for field in fields(self)}
        return Exchanges(**columns)

    def by_the_last_start(self) -> "Exchanges":
        """Those that had their response when the last one began.

        The source's run ended after so many responses, while requests still came; what was under
        way then is in none of its figures.
        """
        end_ms = np.max(self.begun_ms, initial=0, where=~np.isnan(self.begun_ms))
        return self.of(self.begun_ms + self.response_ms <= end_ms)


# As many as one load has with three seeds: a report asks for the same again and again.
@lru_cache(maxsize=18)
def _read(path: Path) -> Exchanges:
    try:
        with regular(path).open(newline="", encoding="ascii") as stream:
            header, *rows = stream
            names = header.rstrip().split(",")
            known = [*NEEDED, *(name for name in names if name == LATER)]
            places = [names.index(name) for name in known]
            table = _numbers(rows, places) if rows else np.empty((0, len(places)))
    except (OSError, ValueError) as error:
        raise RecordError(f"{path}: cannot read the exchanges: {error}") from None
    column = dict(zip(known, table.T, strict=True))
    return Exchanges(
        begun_ms=column["begun_ns"] / NS_PER_MS,
        response_ms=_between(column["begun_ns"], column["last_byte_ns"]),
        first_ms=_between(column["sent_ns"], column["first_byte_ns"]),
        last_ms=_between(column["sent_ns"], column["last_byte_ns"]),
        response_bytes=column["response_bytes"],
        round_trip_ms=column["round_trip_ns"] / NS_PER_MS,
        retransmits=column["retransmits"],
        marks=column["marks"],
        resent_bytes=column.get(LATER, np.full(len(table), np.nan)),
    )


def _numbers(rows: list[str], places: list[int]) -> Values:
    """Some columns of a table, a row a line; nan where there is nothing."""
    return np.loadtxt(
        rows, delimiter=",", comments=None, usecols=places, ndmin=2, encoding="ascii",
        converters=lambda text: float(text or "nan"),
    )  # fmt: skip


def _between(begin_ns: Values, end_ns: Values) -> Values:
    """What never came took for ever."""
    return np.where(np.isnan(end_ns), np.inf, (end_ns - begin_ns) / NS_PER_MS)


def exchanges(trial: Record) -> Exchanges | None:
    """A trial's exchanges; None where it recorded none. RecordError where the table is damaged."""
    return exchanges_in(trial.folder)


def exchanges_in(folder: Path) -> Exchanges | None:
    """Those of the trial whose record is in a folder."""
    path = folder / "exchanges.csv"
    return _read(path) if path.exists() else None


@dataclass(frozen=True, kw_only=True)
class Class:
    """Exchanges of a kind: more than `above`, and at most `most`, of a column."""

    name: str
    column: str
    above: float
    most: float

    def of(self, found: Exchanges) -> Flags:
        values: Values = getattr(found, self.column)
        return (values > self.above) & (values <= self.most)


def _classes(column: str, *ends: tuple[str, float]) -> tuple[Class, ...]:
    """Each begins where the one before ends, the first at 0."""
    return tuple(
        Class(name=name, column=column, above=above, most=most)
        for (_, above), (name, most) in pairwise((("", 0), *ends))
    )


SIZES = _classes(
    "response_bytes",
    ("to 1,460 bytes", 1460),
    ("to 10 kB", 10_000),
    ("to 50 kB", 50_000),
    ("above 50 kB", np.inf),
)
ROUND_TRIPS = _classes(
    "round_trip_ms",
    ("to 20 ms", 20),
    ("to 100 ms", 100),
    ("to 500 ms", 500),
    ("above 500 ms", np.inf),
)


def quantile(values: Values, share: float) -> float | None:
    """The smallest value that so many are at most; None without values, or where it is infinite."""
    if not len(values):
        return None
    found = float(np.quantile(values, share, method="inverted_cdf"))
    return found if np.isfinite(found) else None
