# SPDX-License-Identifier: GPL-2.0-only
"""Runs web clients with HTTP/3 over QUIC in a lab."""

from __future__ import annotations

import csv
import dataclasses
import json
import os
import shutil
import socket
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from subprocess import Popen
from typing import Any, ClassVar

from plan.checks import Check
from workload import source
from workload.checks import late_requests, requests, server_errors
from workload.nginx_servers import documents
from workload.quic import checksums, qlog, wire
from workload.quic.checks import connections, sent_moments, sent_packets
from workload.quic.parameters import LAYER, Parameters
from workload.quic.stacks import (
    PORT,
    STACKS,
    Place,
    Servers,
    datagram_bytes,
    python,
    write_spec,
)
from workload.ready import await_line, told
from workload.source import Host, Programs
from workload.www import schedule
from workload.www.parameters import NS_PER_S

FOLDER = Path("/tmp/quic")
SO_RCVBUFFORCE = 33  # socket(7); Python has no name for it
CLIENT_PORT = 40_000
RECEIVE_BYTES = 1 << 25  # what waits in a socket at most; a program reads as soon as it can
FIRST_NS = 1000 * NS_PER_S  # what the programs' clocks show at their start
# How long clients try to connect, which they do more and more rarely.
PATIENCE_NS, PATIENCE_ROUND_TRIPS = 600 * NS_PER_S, 30
LEAST_IP_BYTES = 1228  # a client's first packet (RFC 9000, section 14.1)

Facts = list[Mapping[str, Any]]
"""What the clients' program says at its end, of one pair after another."""


class Source(source.Source):
    """A server for each pair with the stack of the trial, and one program with all clients."""

    files = ("requests.csv", "quic_cwnd.csv", "qlog.zip")
    client: ClassVar[str] = "workload.quic.client"
    checks: ClassVar[tuple[Check, ...]] = (
        requests, server_errors, late_requests, connections, sent_packets, sent_moments,
    )  # fmt: skip

    parameters: Parameters
    _summary: dict[str, Any]

    def run(self, progress: Callable[[int], None]) -> None:
        with new_folder() as folder, checksums.written(self.testbed):
            self._run(Place(
                layer=self.testbed.layer(LAYER), folder=folder,
                documents=self._documents(folder), begin_ns=self._next_second(),
            ), progress)  # fmt: skip

    def _documents(self, folder: Path) -> Path:
        """Return the folder with the servers' files; it may be in the folder of this trial."""
        del folder
        return documents()

    def _requests(self) -> tuple[schedule.Request, ...]:
        """Return the requests of the trial that are known at its start."""
        return schedule.schedule(self.parameters, self.testbed.seed, len(self.testbed.clients))

    def _next_second(self) -> int:
        """Sleep until a whole second; a moving path must not begin yet [ns]."""
        at_ns = -(-time.monotonic_ns() // NS_PER_S) * NS_PER_S
        self.testbed.sleep_until(at_ns)
        return at_ns

    def _run(self, place: Place, progress: Callable[[int], None]) -> None:
        testbed, asked = self.testbed, self._requests()
        servers = STACKS[self.parameters.stack](testbed, self.parameters, place)
        with ExitStack() as until_end:
            # The clients' sockets outlive them, so that late packets find somebody.
            self.sockets = [until_end.enter_context(self._socket(host)) for host in testbed.clients]
            captures = until_end.enter_context(testbed.programs())
            for host in testbed.servers:
                wire.start(testbed, captures, host.pair, self._capture(place, host.pair))
            with testbed.programs() as programs:
                self._certify(programs, place)
                self._start_servers(programs, servers)
                client, t0_ns = self._begin(programs, place, asked)
                self.follow(t0_ns, progress)
                facts = json.loads(told(client, "the client"))
                complaints = servers.end()
            time.sleep(wire.HELD_S)
        self._finish(place, servers, facts, asked, t0_ns, complaints)

    def _socket(self, host: Host, port: int = CLIENT_PORT) -> socket.socket:
        end = "client" if port == CLIENT_PORT else "server"
        pid = getattr(self.testbed, f"{end}_pid")(host.pair)
        with self.testbed.inside(pid):
            made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        made.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, RECEIVE_BYTES)
        made.bind((host.ip, port))
        return made

    def _capture(self, place: Place, pair: int) -> Path:
        return place.folder / f"s{pair}.pcap"

    def _certify(self, programs: Programs, place: Place) -> None:
        words = [str(self.testbed.seed), str(place.key), str(place.certificate)]
        argv = python("workload.quic.certificate", *words)
        pid = self.testbed.client_pid(1)
        environment = place.environment(f"{self.testbed.seed} certificate")
        told(programs.start(pid, argv, environment), "the program that makes the certificate")

    def _start_servers(self, programs: Programs, servers: Servers) -> None:
        with ExitStack() as until_started:
            sockets = []
            if self.parameters.stack == "aioquic":
                sockets = [
                    until_started.enter_context(self._socket(host, PORT))
                    for host in self.testbed.servers
                ]
            servers.start(programs, [one.fileno() for one in sockets])

    def _begin(
        self, programs: Programs, place: Place, asked: tuple[schedule.Request, ...]
    ) -> tuple[Popen[str], int]:
        """Start the clients, and the trial when they are connected; return the trial's start."""
        read_end, write_end = os.pipe()
        try:
            client = self._start_client(programs, place, asked, read_end)
            await_line(client, "the client")
            t0_ns = self.testbed.whole_second()
            os.write(write_end, (t0_ns - place.begin_ns + FIRST_NS).to_bytes(8, "little"))
        finally:
            os.close(read_end)
            os.close(write_end)
        return client, t0_ns

    def _start_client(
        self, programs: Programs, place: Place, asked: tuple[schedule.Request, ...], start: int
    ) -> Popen[str]:
        params, testbed = self.parameters, self.testbed
        descriptors = [one.fileno() for one in self.sockets]
        pairs = [
            {"pair": host.pair, "descriptor": descriptor, "address": host.peer_ip, "port": PORT}
            for host, descriptor in zip(testbed.clients, descriptors, strict=True)
        ]
        spec = write_spec(place.folder / "client.json", {
            "folder": str(place.folder),
            "pairs": pairs,
            "requests": [{**dataclasses.asdict(r), "path": r.path} for r in asked],
            **self._of_clients(),
            "window_bytes": params.client_window_bytes,
            "datagram_bytes": datagram_bytes(testbed.mss_bytes),
            "duration_ns": params.duration_ns,
            "patience_ns": PATIENCE_NS
            + round(PATIENCE_ROUND_TRIPS * testbed.idle_round_trip_ns(LEAST_IP_BYTES)),
            "qlog": params.qlog == "both",
            "start": start,
        })  # fmt: skip
        environment = place.environment(f"{testbed.seed} clients")
        pid = testbed.client_pid(1)
        argv = python(self.client, str(spec))
        return programs.start(pid, argv, environment, [*descriptors, start])

    def _of_clients(self) -> dict[str, Any]:
        """Return what only clients of this kind have to know."""
        return {"streams": self.parameters.streams}

    def _finish(
        self,
        place: Place,
        servers: Servers,
        facts: Facts,
        asked: tuple[schedule.Request, ...],
        t0_ns: int,
        complaints: list[str],
    ) -> None:
        logs = [qlog.Log(servers.qlog(host.pair)) for host in self.testbed.servers]
        found = self._read(place, logs, t0_ns)
        shutil.move(place.folder / "requests.csv", self.testbed.folder / "requests.csv")
        self._summary = {
            **self._of_requests(facts, asked),
            **self._of_logs(logs),
            "t0_ns": t0_ns,
            "peer_window_bytes": [None] * len(facts),
            "server_complaints": complaints,
            "unlike_packets": [one.unlike for one in found],
            "off_ns": [one.off_ns for one in found],
            "lost_packets": [log.lost for log in logs],
            "mended_qlog_lines": [log.mended for log in logs],
        }

    def _read(self, place: Place, logs: Sequence[qlog.Log], t0_ns: int) -> list[wire.Comparison]:
        """Write quic_cwnd.csv and qlog.zip; return what the servers' captures say of their logs."""
        access, folder = wire.Access(link=self.testbed.access), self.testbed.folder
        t0_ns += time.time_ns() - time.monotonic_ns()  # on the captures' clock
        found = []
        with (
            zipfile.ZipFile(folder / "qlog.zip", "w") as archive,
            (folder / "quic_cwnd.csv").open("w", newline="", encoding="ascii") as stream,
        ):
            table = csv.writer(stream)
            table.writerow(qlog.COLUMNS)
            for host, log in zip(self.testbed.servers, logs, strict=True):
                seen, first = wire.read(self._capture(place, host.pair)), log.first_sent()
                offset_ns = wire.offset_ns(seen[0], first, access) if seen and first else 0
                with qlog.entry(archive, f"s{host.pair}.sqlog", log.path) as copy:
                    events = log.events(copy)
                    table.writerows(qlog.windows(events, host.pair, offset_ns - t0_ns))
                found.append(wire.compare(seen, log.sent, access))
            for host in self.testbed.clients if self.parameters.qlog == "both" else ():
                name = f"c{host.pair}.sqlog"
                qlog.store(archive, name, place.folder / name)
        return found

    def _of_requests(self, facts: Facts, asked: tuple[schedule.Request, ...]) -> dict[str, Any]:
        """Write flows.csv; return what the record has of all requests and bytes."""
        scheduled = schedule.scheduled_bytes(asked, len(facts))
        self.write_flows(
            {
                "pair": one["pair"],
                "received_bytes": one["stream_bytes"],
                "scheduled_bytes": scheduled[one["pair"] - 1],
                "requests": sum(request.pair == one["pair"] for request in asked),
                "answered": one["answered"],
            }
            for one in facts
        )
        return totals(facts, len(asked))

    def _of_logs(self, logs: Sequence[qlog.Log]) -> dict[str, Any]:
        """Return what only workloads of this kind have from the servers' qlog."""
        del logs
        return {}

    def summary(self) -> dict[str, Any]:
        return self._summary


def totals(facts: Facts, offered: int) -> dict[str, Any]:
    """Return the counts of requests and bytes by their outcome."""
    return {
        "offered": offered,
        "answered": sum(one["answered"] for one in facts),
        "outstanding": sum(one["under_way"] for one in facts),
        "unsent": sum(one["unsent"] for one in facts),
        "waiting": offered - sum(one["sent"] for one in facts),
        "bad_status": sum(one["bad_status"] for one in facts),
        "unexplained_bytes": [one["unexplained_bytes"] for one in facts],
        "max_late_ns": max(one["late_ns"] for one in facts),
        "ended": [one["ended"] for one in facts],
    }


@contextmanager
def new_folder() -> Iterator[Path]:
    """Make a folder in the lab's memory for the duration of a `with`."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir()
    try:
        yield FOLDER
    finally:
        shutil.rmtree(FOLDER)
