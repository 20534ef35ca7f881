# SPDX-License-Identifier: GPL-2.0-only
"""What became of a trace: a row an exchange, from the trace and the tables of both ends."""

import csv
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from . import ports
from .trace import Exchange
from .web import Result, ServerResult

COLUMNS = (
    "direction,connection,exchange,round_trip_ns,request_bytes,server_delay_ns,response_bytes,"
    "begun_ns,connected_ns,sent_ns,first_byte_ns,last_byte_ns,received_bytes,state,"
    "retransmits,timeouts,marks"
).split(",")
# The server was not there: a fault of the trial, as nothing that a network does to packets is.
FAULTS = ("refused", "unreachable")

# (direction, host, client's port, server's port)
Key = tuple[str, int, int, int]


@dataclass
class Totals:
    """Over all rows.

    states          exchanges by their state (web.STATES)
    unsent          connections that were not begun
    wrong_bytes     of exchanges that are done: bytes more or less than the trace's, by host number
    received_bytes  of responses down, by host number; asked, done: requests and answers of these
    retransmits, timeouts  of their servers
    handshake_excess_ns  the least by which a handshake, from before connect(), took longer than its
                    connection's round trip; None: there was none
    last_byte_ns    the latest
    """

    states: Counter[str] = field(default_factory=Counter)
    unsent: int = 0
    wrong_bytes: Counter[int] = field(default_factory=Counter)
    received_bytes: Counter[int] = field(default_factory=Counter)
    scheduled_bytes: Counter[int] = field(default_factory=Counter)
    asked: Counter[int] = field(default_factory=Counter)
    done: Counter[int] = field(default_factory=Counter)
    retransmits: Counter[int] = field(default_factory=Counter)
    timeouts: Counter[int] = field(default_factory=Counter)
    handshake_excess_ns: int | None = None
    last_byte_ns: int = 0

    def add(self, row: Exchange, result: Result, served: ServerResult | None, host: int) -> None:
        """Count one exchange."""
        self.states[result.state] += 1
        self.unsent += row.first and result.begun_ns is None
        self.last_byte_ns = max(self.last_byte_ns, result.last_byte_ns or 0)
        if result.state == "done":
            self.wrong_bytes[host] += abs(result.received_bytes - row.response_bytes)
        if result.begun_ns is not None and result.connected_ns is not None:
            excess_ns = result.connected_ns - result.begun_ns - row.round_trip_ns
            known = self.handshake_excess_ns
            self.handshake_excess_ns = excess_ns if known is None else min(known, excess_ns)
        if row.direction == "down":
            self.received_bytes[host] += result.received_bytes
            self.scheduled_bytes[host] += row.response_bytes
            self.asked[host] += 1
            self.done[host] += result.state == "done"
            if served and row.first:
                self.retransmits[host] += served.retransmits
                self.timeouts[host] += served.timeouts


def write(
    path: Path,
    rows: Iterable[Exchange],
    results: Iterable[Result],
    served: Mapping[Key, ServerResult],
    hosts: int,
) -> Totals:
    """Write a row for each of the trace's; return what they come to.

    Raises KeyError where an exchange of the trace has no result.
    """
    found = {(r.direction, r.connection, r.exchange): r for r in results}
    totals = Totals()
    with path.open("w", newline="", encoding="ascii") as stream:
        table = csv.writer(stream)
        table.writerow(COLUMNS)
        for number, row in numbered(rows):
            result = found[row.direction, row.connection, number]
            host = ports.host(row.connection, hosts)
            end = served.get((row.direction, host, *ports.ports(row.connection, hosts)))
            totals.add(row, result, end, host)
            table.writerow(cells(number, row, result, end))
    return totals


def numbered(rows: Iterable[Exchange]) -> Iterator[tuple[int, Exchange]]:
    """Each row with its number within its connection, from 0."""
    number = 0
    for row in rows:
        number = 0 if row.first else number + 1
        yield number, row


def cells(
    number: int, row: Exchange, result: Result, end: ServerResult | None
) -> list[int | str | None]:
    """A row, as COLUMNS."""
    asked = [row.round_trip_ns, row.request_bytes, row.server_delay_ns, row.response_bytes]
    times = [result.begun_ns, result.connected_ns, result.sent_ns, result.first_byte_ns]
    came = [result.last_byte_ns, result.received_bytes, result.state]
    counted = [end.retransmits, end.timeouts, end.marks] if end else [None] * 3
    return [row.direction, row.connection, number, *asked, *times, *came, *counted]
