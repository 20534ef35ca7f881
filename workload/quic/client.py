# SPDX-License-Identifier: GPL-2.0-only
"""In the lab: the clients of all pairs, with aioquic. python3 -m workload.quic.client SPEC

It prints "ready" when both ends of each connection have completed their handshakes. A client whose
connection does not come counts as ended. Then the program waits for the 8 bytes of the trial's
start on a pipe, and sends each request at its moment. At the end of the trial it closes all
connections and writes one JSON line (source.py reads it), and requests in the form of www.
"""

from __future__ import annotations

import csv
import os
import ssl
import sys
from collections import deque
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from aioquic.h3.connection import H3_ALPN, H3Connection
from aioquic.h3.events import DataReceived, H3Event, HeadersReceived
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.connection import QuicConnection
from aioquic.quic.events import (
    ConnectionTerminated,
    HandshakeCompleted,
    PingAcknowledged,
    QuicEvent,
    StreamDataReceived,
)

from workload.quic.endpoint import FIRST_NS, End, Logger, Loop, clock_ns, draw_alike, now_s, spec_of
from workload.quic.lines import as_line

COLUMNS = (
    "pair,batch,request,class,file,size_bytes,due_ns,sent_ns,first_byte_ns,last_byte_ns,status"
).split(",")


class Transfer:
    """A request and what has come for it; moments [ns] of the program's clock."""

    def __init__(self, row: Mapping[str, Any]) -> None:
        self.row = row
        self.sent_ns: int | None = None
        self.first_ns: int | None = None
        self.last_ns: int | None = None
        self.status: int | None = None
        self.body_bytes = 0

    def unexplained_bytes(self) -> int:
        """Return how far the answer's length is wrong; an answer under way may be too short."""
        more = self.body_bytes - int(self.row["size_bytes"])
        return max(0, more) if self.last_ns is None else abs(more)


class Client(End):
    """The client of one pair."""

    def __init__(self, pair: Mapping[str, Any], spec: Mapping[str, Any]) -> None:
        super().__init__(pair["descriptor"])
        self.peer = (pair["address"], pair["port"])
        self.pair: int = pair["pair"]
        self.authority = pair["address"].encode()
        self.most: int = spec["streams"]
        self.logger = Logger(Path(spec["folder"], f"c{self.pair}.sqlog")) if spec["qlog"] else None
        self.connection = QuicConnection(configuration=QuicConfiguration(
            is_client=True, alpn_protocols=H3_ALPN, verify_mode=ssl.CERT_NONE,
            idle_timeout=86_400.0, max_data=spec["window_bytes"],
            max_stream_data=spec["window_bytes"], max_datagram_size=spec["datagram_bytes"],
            server_name="server", quic_logger=self.logger,
        ))  # fmt: skip
        self.http = H3Connection(self.connection)
        self.waiting: deque[Transfer] = deque()
        self.all: list[Transfer] = []
        self.open: dict[int, Transfer] = {}
        self.free_ns = 0  # when a stream became free last, after all had been open
        self.late_ns = 0
        self.ready = False
        self.ended = ""
        self.stream_bytes = 0
        self.connection.connect(self.peer, now_s())

    def begin_trial(self, rows: Iterable[Mapping[str, Any]], t0_ns: int) -> None:
        """Take the requests of the trial, which begins at a moment [ns]."""
        self.all = [Transfer({**row, "due_ns": row["due_ns"] + t0_ns}) for row in rows]
        self.waiting.extend(self.all)
        self.stream_bytes = 0

    def heed(self) -> None:
        """Act on what the connection has to say."""
        while (event := self.connection.next_event()) is not None:
            self.of_connection(event)
            for found in self.http.handle_event(event):
                self.of_http(found)

    def of_connection(self, event: QuicEvent) -> None:
        if isinstance(event, HandshakeCompleted):
            self.connection.send_ping(0)  # the server answers it when its handshake is complete
        elif isinstance(event, PingAcknowledged):
            self.ready = True
        elif isinstance(event, ConnectionTerminated):
            self.ended = self.ended or f"{event.error_code:#x} {event.reason_phrase}".strip()
        elif isinstance(event, StreamDataReceived) and event.stream_id in self.open:
            self.stream_bytes += len(event.data)
            if event.data and self.open[event.stream_id].first_ns is None:
                self.open[event.stream_id].first_ns = clock_ns()

    def of_http(self, event: H3Event) -> None:
        if not isinstance(event, HeadersReceived | DataReceived):
            return
        transfer = self.open.get(event.stream_id)
        if transfer is None:
            return
        if isinstance(event, HeadersReceived):
            transfer.status = int(dict(event.headers).get(b":status", b"0"))
        else:
            transfer.body_bytes += len(event.data)
        if event.stream_ended:
            transfer.last_ns = clock_ns()
            if len(self.open) == self.most:
                self.free_ns = transfer.last_ns
            del self.open[event.stream_id]
            self.answered()

    def answered(self) -> None:
        """Act on the end of an answer."""

    def ask(self) -> int | None:
        """Send the requests that are due; return the moment of the next [ns]."""
        while self.waiting and len(self.open) < self.most and not self.ended:
            transfer = self.waiting[0]
            now_ns = clock_ns()
            if transfer.row["due_ns"] > now_ns:
                return int(transfer.row["due_ns"])
            self.waiting.popleft()
            stream = self.connection.get_next_available_stream_id()
            self.open[stream] = transfer
            transfer.sent_ns = now_ns
            self.late_ns = max(self.late_ns, now_ns - max(transfer.row["due_ns"], self.free_ns))
            self.http.send_headers(stream, self.header(transfer), end_stream=True)
        return None

    def header(self, transfer: Transfer) -> list[tuple[bytes, bytes]]:
        return [
            (b":method", b"GET"), (b":scheme", b"https"), (b":authority", self.authority),
            (b":path", transfer.row["path"].encode()),
        ]  # fmt: skip

    def close(self) -> None:
        if not self.ended:
            self.connection.close(error_code=0x100)  # H3_NO_ERROR

    def facts(self, t0_ns: int) -> dict[str, Any]:
        """Return what the record has of this pair."""
        done = [t for t in self.all if t.last_ns is not None]
        return {
            "pair": self.pair,
            "stream_bytes": self.stream_bytes_at_end,
            "sent": sum(t.sent_ns is not None for t in self.all),
            "answered": len(done),
            "unsent": self.unsent_at_end,
            "under_way": len(self.all) - len(done) - self.unsent_at_end,
            "bad_status": sum(t.status != 200 for t in done),
            "unexplained_bytes": sum(t.unexplained_bytes() for t in self.all),
            "late_ns": self.late_ns,
            "ended": self.ended_at_end,
        }

    def note_end(self) -> None:
        """Keep what holds at the end of the trial: more may come before the connection is gone."""
        self.stream_bytes_at_end, self.ended_at_end = self.stream_bytes, self.ended
        self.unsent_at_end = self.overdue(clock_ns())

    def overdue(self, now_ns: int) -> int:
        """Count the requests that are due and could have been sent: nothing held them back."""
        if self.ended or len(self.open) == self.most:
            return 0
        return sum(transfer.row["due_ns"] < now_ns for transfer in self.waiting)


def drive(loop: Loop, clients: list[Client], until: Any, moments: list[int]) -> None:
    """Let the clients work until a condition holds; look again at each of the moments [ns]."""
    while not until():
        for client in clients:
            client.take()
            client.heed()
        asked = [client.ask() for client in clients]
        for client in clients:
            client.send()
            client.heed()
        if until():
            return
        loop.wait([*asked, *(client.timer_ns() for client in clients), *moments])


def connect(loop: Loop, clients: list[Client], until_ns: int) -> None:
    """Let the clients connect; at a moment [ns], those that could not give up."""

    def done() -> bool:
        return clock_ns() >= until_ns or all(one.ready or one.ended for one in clients)

    drive(loop, clients, done, [until_ns])
    for client in clients:
        if not client.ready and not client.ended:
            client.close()
            client.send()
            client.heed()
            client.ended = "no connection"


def nothing() -> None:
    """A socket is read in any case."""


def run(kind: type[Client]) -> None:
    """Run one client of a kind for each pair, to the end of the trial."""
    draw_alike()
    spec = spec_of(sys.argv[1])
    clients = [kind(pair, spec) for pair in spec["pairs"]]
    loop = Loop()
    for client in clients:
        loop.add(client.socket.fileno(), nothing)
        client.send()
    connect(loop, clients, clock_ns() + spec["patience_ns"])
    print("ready", flush=True)
    begin: list[int] = []
    loop.add(spec["start"], lambda: begin.append(read_moment(spec["start"])))
    drive(loop, clients, lambda: bool(begin), [])
    loop.drop(spec["start"])
    t0_ns = begin[0]
    for client in clients:
        client.begin_trial([row for row in spec["requests"] if row["pair"] == client.pair], t0_ns)
    end_ns = t0_ns + spec["duration_ns"]
    drive(loop, clients, lambda: clock_ns() >= end_ns, [end_ns])
    for client in clients:
        client.note_end()
    write(Path(spec["folder"], "requests.csv"), clients, t0_ns)
    for client in clients:
        client.close()
        client.send()
    drive(loop, clients, lambda: all(client.ended for client in clients), [])
    for client in clients:
        if client.logger is not None:
            client.logger.close()
    print(as_line([client.facts(t0_ns) for client in clients]), flush=True)


def read_moment(descriptor: int) -> int:
    """Return the trial's start on the program's clock [ns]."""
    return int.from_bytes(os.read(descriptor, 8), "little") - FIRST_NS


def write(path: Path, clients: list[Client], t0_ns: int) -> None:
    """Write requests.csv; what did not happen before the end is an empty cell."""

    def since(moment: int | None) -> int | None:
        return None if moment is None else moment - t0_ns

    rows = sorted(
        (t for client in clients for t in client.all),
        key=lambda t: (t.row["due_ns"], t.row["pair"], t.row["batch"], t.row["request"]),
    )
    with path.open("w", newline="", encoding="ascii") as stream:
        table = csv.writer(stream, lineterminator="\n")
        table.writerow(COLUMNS)
        for t in rows:
            names = ("pair", "batch", "request", "file_class", "file", "size_bytes")
            moments = (t.row["due_ns"], t.sent_ns, t.first_ns, t.last_ns)
            table.writerow([*(t.row[name] for name in names), *map(since, moments), t.status])


if __name__ == "__main__":
    run(Client)
