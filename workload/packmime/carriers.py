# SPDX-License-Identifier: GPL-2.0-only
"""The programs that replay a trace over real connections (programs/), and readers of their records.

`make -C workload OUT=DIR` makes packmime_server and packmime_client. Each host runs one server for
incoming connections and one client for its own connections. All clients of a trial get the same t0.
A server prints "ready" when it listens. SIGTERM ends it; it then writes its table.
"""

import csv
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from workload.errors import WorkloadError
from workload.packmime.ports import FIRST_SERVER_PORT, SERVER_PORTS

CLIENT_FORMAT = "cellbed-packmime-client/1"
SERVER_FORMAT = "cellbed-packmime-server/1"
STATES = (
    "not_begun connecting sending waiting receiving done refused reset timed_out unreachable closed"
).split()
EXCHANGES_HEADER = (
    "direction,connection,exchange,begun_ns,connected_ns,sent_ns,first_byte_ns,last_byte_ns,"
    "received_bytes,state"
)
SERVER_HEADER = (
    "client_address,client_port,server_port,state,answered,sent_bytes,retransmits,timeouts,marks,"
    "srtt_us,carried_bytes,resent_bytes,peer_window_bytes,waited_ns,ecn"
)


@dataclass(frozen=True, kw_only=True)
class Side:
    """One client host of a direction.

    direction   "down" or "up"
    hosts, host the number of the direction's client hosts, and the index of this one, from 0
    address     the address of this host
    server      the address of the server host that it asks
    """

    direction: str
    hosts: int
    host: int
    address: str
    server: str


class Result(NamedTuple):
    """The result of one exchange; times [ns] since t0; None: it did not happen in time.

    begun_ns        first exchange of a connection: before connect(); others: before the request
    connected_ns    only of a connection's first exchange
    sent_ns         the client gave the request's last byte to TCP
    received_bytes  bytes of the response
    state           one of STATES; all but "done" are unfinished
    """

    direction: str
    connection: int
    exchange: int
    begun_ns: int | None
    connected_ns: int | None
    sent_ns: int | None
    first_byte_ns: int | None
    last_byte_ns: int | None
    received_bytes: int
    state: str


class ServerResult(NamedTuple):
    """The server's end of one connection, when the client's end had closed or at the trial's end.

    answered, sent_bytes  responses and their bytes, by the server's counts; the kernel counts
                 the rest
    retransmits  segments sent again, also SYN/ACK and FIN
    timeouts     retransmission timeouts
    marks        segments acknowledged with an echo of a mark (ECE); a mark echoes for about a
                 window
    carried_bytes, resent_bytes  payload of first transmissions, and of retransmissions
    peer_window_bytes  the last window that the client advertised
    waited_ns    all waits before answers; they begin at the requests' arrival times in the
                 kernel, which count ticks
    ecn          1: both ends use ECN
    """

    client_address: str
    client_port: int
    server_port: int
    state: str
    answered: int
    sent_bytes: int
    retransmits: int
    timeouts: int
    marks: int
    srtt_us: int
    carried_bytes: int
    resent_bytes: int
    peer_window_bytes: int
    waited_ns: int
    ecn: int


def server_argv(program: Path, address: str, out: Path) -> list[str]:
    """Return the command of a host's server."""
    return [
        str(program),
        *("--address", address),
        *("--first-port", str(FIRST_SERVER_PORT)),
        *("--ports", str(SERVER_PORTS)),
        *("--out", str(out)),
    ]


def client_argv(
    program: Path, trace: Path, side: Side, *, t0_ns: int, duration_ns: int, out: Path
) -> list[str]:
    """Return the command of a host's client; t0_ns is of CLOCK_MONOTONIC.

    It ends when all its connections have ended, and at t0 + duration_ns at the latest.
    """
    options = {
        "--trace": trace,
        "--direction": side.direction,
        "--hosts": side.hosts,
        "--host": side.host,
        "--address": side.address,
        "--server": side.server,
        "--t0-ns": t0_ns,
        "--duration-ns": duration_ns,
        "--out": out,
    }
    return [str(program), *(str(word) for option in options.items() for word in option)]


@dataclass(frozen=True, kw_only=True)
class Progress:
    """One client's state at a whole second of the trial."""

    second: int
    done: int
    open: int
    received_bytes: int


def progress(line: str) -> Progress | None:
    """Return the content of a client's progress line; None for any other line."""
    words = line.split()
    if len(words) != 5 or words[0] != "progress":
        return None
    second, done, still_open, received_bytes = map(int, words[1:])
    return Progress(second=second, done=done, open=still_open, received_bytes=received_bytes)


def summary(stdout: str) -> dict[str, Any]:
    """Return the content of a program's last line.

    For a client: exchanges by state, most_open connections, received_bytes, max_late_ns (the
    largest delay between a connection's due time and its beginning). For a server: connections,
    most_open.
    """
    last = stdout.strip().rpartition("\n")[2]
    try:
        found: dict[str, Any] = json.loads(last)
    except ValueError:
        found = {}
    if found.get("format") not in (CLIENT_FORMAT, SERVER_FORMAT):
        raise WorkloadError("a program that carries the trace ended early and left no summary")
    return found


def read_exchanges(path: Path) -> Iterator[Result]:
    """Yield the rows of a client's table."""
    for direction, connection, exchange, *times, received, state in _rows(path, EXCHANGES_HEADER):
        begun, connected, sent, first, last = [int(time) if time else None for time in times]
        yield Result(
            direction, int(connection), int(exchange), begun, connected, sent, first, last,
            int(received), sys.intern(state),
        )  # fmt: skip


def read_server(path: Path) -> Iterator[ServerResult]:
    """Yield the rows of a server's table."""
    for address, client_port, server_port, state, *rest in _rows(path, SERVER_HEADER):
        words = sys.intern(address), int(client_port), int(server_port), sys.intern(state)
        yield ServerResult(*words, *map(int, rest))


def _rows(path: Path, header: str) -> Iterator[list[str]]:
    columns = header.split(",")
    try:
        with path.open(encoding="ascii", newline="") as file:
            rows = csv.reader(file)
            if next(rows, None) != columns:
                raise WorkloadError(f"{path}: the first line must be {header}")
            for row in rows:
                if len(row) != len(columns):
                    raise WorkloadError(
                        f"{path}:{rows.line_num}: the line must have {len(columns)} columns"
                    )
                yield row
    except OSError as error:
        raise WorkloadError(f"cannot read {path}: {error.strerror}") from error
