# SPDX-License-Identifier: GPL-2.0-only
"""What became of a trace: a row an exchange, from the trace and the tables of both ends.

A trial may have a quarter of a million exchanges, and a process of a lab has 256 MB (each page may
be a mapping of the host): clients' rows are read as they are needed, servers' of one direction.
"""

import csv
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

from workload.packmime import both_ends, ports
from workload.packmime.carriers import Result, ServerResult
from workload.packmime.trace import Exchange

COLUMNS = (
    "direction,connection,exchange,round_trip_ns,request_bytes,server_delay_ns,response_bytes,"
    "begun_ns,connected_ns,sent_ns,first_byte_ns,last_byte_ns,received_bytes,state,"
    "retransmits,timeouts,marks,resent_bytes"
).split(",")
# The server was not there: a fault of the trial, as nothing that a network does to packets is.
FAULTS = ("refused", "unreachable")

# (host, client's port, server's port)
Key = tuple[int, int, int]
# Of a direction: the results of each client host in the order of the trace, and of each server host
Results = Callable[[str], Sequence[Iterator[Result]]]
Served = Callable[[str], Sequence[Iterable[ServerResult]]]
Connection = Sequence[tuple[Exchange, Result]]


@dataclass
class Totals:
    """Over all rows.

    states          exchanges by their state (carriers.STATES)
    unsent          connections that were not begun
    unreached       exchanges after a connection's first that were not begun
    unlike          connections of which the ends' counts do not agree (both_ends), by host number
    received_bytes  of responses down, by host number; asked, done: requests and answers of these
    retransmits, timeouts  of their servers
    handshake_excess_ns  the least by which a handshake, from before connect(), took longer than its
                    connection's round trip; None: there was none
    answer_excess_ns  the least by which an answer's first byte came later after its request than
                    the round trip and the server's delay; None: there was none
    delay_off_ns    of the servers' waits before answers the furthest from the trace's, by their
                    kernels; a mean over those of a connection
    connected       connections that their clients have seen begin
    served, with_ecn  connections that a server has accepted; of these, where both ends speak ECN
    windows         by host number: the least and the largest window that a client told its server
                    last, of connections that ended well
    last_byte_ns    the latest
    """

    states: Counter[str] = field(default_factory=Counter)
    unsent: int = 0
    unreached: int = 0
    unlike: Counter[int] = field(default_factory=Counter)
    received_bytes: Counter[int] = field(default_factory=Counter)
    scheduled_bytes: Counter[int] = field(default_factory=Counter)
    asked: Counter[int] = field(default_factory=Counter)
    done: Counter[int] = field(default_factory=Counter)
    retransmits: Counter[int] = field(default_factory=Counter)
    timeouts: Counter[int] = field(default_factory=Counter)
    handshake_excess_ns: int | None = None
    answer_excess_ns: int | None = None
    delay_off_ns: int = 0
    connected: int = 0
    served: int = 0
    with_ecn: int = 0
    windows: dict[int, tuple[int, int]] = field(default_factory=dict)
    last_byte_ns: int = 0

    def add(self, connection: Connection, served: ServerResult | None, host: int) -> None:
        """Count one connection."""
        (first, begun), *_ = connection
        self.unsent += begun.begun_ns is None
        if begun.begun_ns is not None and begun.connected_ns is not None:
            excess_ns = begun.connected_ns - begun.begun_ns - first.round_trip_ns
            self.handshake_excess_ns = least(self.handshake_excess_ns, excess_ns)
            self.connected += 1
        self.served += served is not None
        self.with_ecn += served is not None and served.ecn
        self.unlike[host] += not both_ends.agree(connection, served)
        for row, result in connection:
            self._add_exchange(row, result, host)
        if served:
            self._add_server(connection, served, host)
        if first.direction == "down" and served:
            self.retransmits[host] += served.retransmits
            self.timeouts[host] += served.timeouts

    def _add_server(self, connection: Connection, served: ServerResult, host: int) -> None:
        if all(result.state == "done" for _, result in connection):
            wanted_ns = sum(row.server_delay_ns for row, _ in connection)
            off_ns = (served.waited_ns - wanted_ns) // len(connection)
            self.delay_off_ns = max(self.delay_off_ns, off_ns, key=abs)
        if served.state == "done":  # then the client's last word came with all read
            window = served.peer_window_bytes
            low, high = self.windows.get(host, (window, window))
            self.windows[host] = (min(low, window), max(high, window))

    def _add_exchange(self, row: Exchange, result: Result, host: int) -> None:
        self.states[result.state] += 1
        self.unreached += not row.first and result.begun_ns is None
        self.last_byte_ns = max(self.last_byte_ns, result.last_byte_ns or 0)
        if result.sent_ns is not None and result.first_byte_ns is not None:
            took_ns = result.first_byte_ns - result.sent_ns
            excess_ns = took_ns - row.round_trip_ns - row.server_delay_ns
            self.answer_excess_ns = least(self.answer_excess_ns, excess_ns)
        if row.direction == "down":
            self.received_bytes[host] += result.received_bytes
            self.scheduled_bytes[host] += row.response_bytes
            self.asked[host] += 1
            self.done[host] += result.state == "done"


def least(known: int | None, value: int) -> int:
    return value if known is None else min(known, value)


def write(path: Path, rows: Iterable[Exchange], results: Results, served: Served) -> Totals:
    """Write a row for each of the trace's; return what they come to.

    Raises KeyError where a client's table has another exchange than the trace, or none.
    """
    totals = Totals()
    with path.open("w", newline="", encoding="ascii") as stream:
        table = csv.writer(stream)
        table.writerow(COLUMNS)
        for direction, own in groupby(connections(rows), lambda rows: rows[0].direction):
            clients, servers = results(direction), _ends(served(direction))
            for asked in own:
                number = asked[0].connection
                host = ports.host(number, len(clients))
                end = servers.get((host, *ports.ports(number, len(clients))))
                connection = [
                    (row, _result(clients[host], (direction, number, at)))
                    for at, row in enumerate(asked)
                ]
                totals.add(connection, end, host)
                table.writerows(cells(at, *both, end) for at, both in enumerate(connection))
    return totals


def _ends(hosts: Sequence[Iterable[ServerResult]]) -> dict[Key, ServerResult]:
    return {
        (host, end.client_port, end.server_port): end
        for host, ends in enumerate(hosts)
        for end in ends
    }


def _result(table: Iterator[Result], wanted: tuple[str, int, int]) -> Result:
    found = next(table, None)
    if found is None or (found.direction, found.connection, found.exchange) != wanted:
        raise KeyError(wanted)
    return found


def connections(rows: Iterable[Exchange]) -> Iterator[list[Exchange]]:
    """The rows of each connection, which follow one another."""
    own: list[Exchange] = []
    for row in rows:
        if row.first and own:
            yield own
            own = []
        own.append(row)
    if own:
        yield own


def cells(
    number: int, row: Exchange, result: Result, end: ServerResult | None
) -> list[int | str | None]:
    """A row, as COLUMNS."""
    asked = [row.round_trip_ns, row.request_bytes, row.server_delay_ns, row.response_bytes]
    times = [result.begun_ns, result.connected_ns, result.sent_ns, result.first_byte_ns]
    came = [result.last_byte_ns, result.received_bytes, result.state]
    counted = [end.retransmits, end.timeouts, end.marks, end.resent_bytes] if end else [None] * 4
    return [row.direction, row.connection, number, *asked, *times, *came, *counted]
