# SPDX-License-Identifier: GPL-2.0-only
"""The results of a trace: one row for each exchange, from the trace and the tables of both ends.

A trial may have a quarter of a million exchanges, but a process of a lab has only 256 MB (each page
may be a mapping of the host). So this module reads the clients' rows one by one, and the servers'
rows of one direction at a time.
"""

import csv
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

from workload.packmime import both_ends, ports
from workload.packmime.both_ends import Client
from workload.packmime.carriers import Result, ServerResult
from workload.packmime.trace import Exchange

COLUMNS = (
    "direction,connection,exchange,round_trip_ns,request_bytes,server_delay_ns,response_bytes,"
    "begun_ns,connected_ns,sent_ns,first_byte_ns,last_byte_ns,received_bytes,state,"
    "retransmits,timeouts,marks,resent_bytes"
).split(",")
# The server was absent. This is a fault of the trial: no loss of packets can cause it.
FAULTS = ("refused", "unreachable")

# (host, client's port, server's port)
Key = tuple[int, int, int]
# direction -> the results of each client host in the order of the trace, and of each server host
Results = Callable[[str], Sequence[Iterator[Result]]]
Served = Callable[[str], Sequence[Iterable[ServerResult]]]
Connection = Sequence[tuple[Exchange, Result]]


@dataclass
class Totals:
    """Totals over all rows.

    states          state (carriers.STATES) -> exchanges
    unsent          connections that were not begun
    unreached       exchanges after a connection's first that were not begun
    unlike          host -> connections whose ends' counts do not agree (both_ends)
    received_bytes  host -> bytes of responses down
    asked, done     host -> requests down, and complete answers to them
    retransmits, timeouts  host -> retransmissions and timeouts of the servers of these
    handshake_excess_ns  the least difference between a handshake, from before connect(), and
                    its connection's round trip; None: there was no handshake
    answer_excess_ns  the least difference between the time from a request to its answer's first
                    byte and the round trip plus the server's delay; None: there was no answer
    delay_off_ns    the largest difference between a server's waits and the trace, by the server's
                    kernel, as a mean over a connection
    connected       connections that began, as their clients saw
    served, with_ecn  connections that a server accepted; of these, with ECN at both ends
    windows         host -> the least and the largest last window that a client told its server,
                    over connections that ended well
    last_byte_ns    the time of the latest byte
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
        first, begun = connection[0]
        self.unsent += begun.begun_ns is None
        if begun.begun_ns is not None and begun.connected_ns is not None:
            excess_ns = begun.connected_ns - begun.begun_ns - first.round_trip_ns
            self.handshake_excess_ns = least(self.handshake_excess_ns, excess_ns)
            self.connected += 1
        for row, result in connection:
            self._add_exchange(row, result)
        client = both_ends.of_client(connection)
        self.unlike[host] += not both_ends.agree(client, served)
        if served:
            self._add_server(client, served, host)
        if first.direction == "down":
            self._add_down(client, served, host)

    def _add_server(self, client: Client, served: ServerResult, host: int) -> None:
        self.served += 1
        self.with_ecn += served.ecn
        if client.done == client.exchanges:
            off_ns = (served.waited_ns - client.delays_ns) // client.exchanges
            if abs(off_ns) > abs(self.delay_off_ns):
                self.delay_off_ns = off_ns
        if served.state == "done":  # the client had read all data when it sent its last window
            window = served.peer_window_bytes
            low, high = self.windows.get(host, (window, window))
            if window <= low or window >= high:
                self.windows[host] = (min(low, window), max(high, window))

    def _add_down(self, client: Client, served: ServerResult | None, host: int) -> None:
        self.received_bytes[host] += client.received_bytes
        self.scheduled_bytes[host] += client.asked_bytes
        self.asked[host] += client.exchanges
        self.done[host] += client.done
        if served:
            self.retransmits[host] += served.retransmits
            self.timeouts[host] += served.timeouts

    def _add_exchange(self, row: Exchange, result: Result) -> None:
        self.states[result.state] += 1
        self.unreached += not row.first and result.begun_ns is None
        if result.last_byte_ns is not None and result.last_byte_ns > self.last_byte_ns:
            self.last_byte_ns = result.last_byte_ns
        if result.sent_ns is not None and result.first_byte_ns is not None:
            took_ns = result.first_byte_ns - result.sent_ns
            excess_ns = took_ns - row.round_trip_ns - row.server_delay_ns
            self.answer_excess_ns = least(self.answer_excess_ns, excess_ns)


def least(known: int | None, value: int) -> int:
    return value if known is None or value < known else known


def write(path: Path, rows: Iterable[Exchange], results: Results, served: Served) -> Totals:
    """Write a row for each exchange of the trace; return the totals.

    Raises KeyError if a client's table lacks an exchange of the trace or has another one.
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
                for at, (row, result) in enumerate(connection):
                    table.writerow(cells(at, row, result, end))
    return totals


def _ends(hosts: Sequence[Iterable[ServerResult]]) -> dict[Key, ServerResult]:
    return {
        (host, end.client_port, end.server_port): end
        for host, ends in enumerate(hosts)
        for end in ends
    }


def _result(table: Iterator[Result], wanted: tuple[str, int, int]) -> Result:
    found = next(table, None)
    if found is None or found[:3] != wanted:
        raise KeyError(wanted)
    return found


def connections(rows: Iterable[Exchange]) -> Iterator[list[Exchange]]:
    """Yield the rows of each connection; they follow one another."""
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
    """Return a row with the values of COLUMNS."""
    direction, connection, _, _, *asked = row
    counted = (end.retransmits, end.timeouts, end.marks, end.resent_bytes) if end else (None,) * 4
    return [direction, connection, number, *asked, *result[3:], *counted]
