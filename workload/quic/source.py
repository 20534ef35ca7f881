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
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from subprocess import Popen
from typing import Any

from workload import source
from workload.checks import late_requests, requests, server_errors
from workload.quic import qlog, wire
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
from workload.ready import await_line
from workload.source import Host, Programs
from workload.www import schedule
from workload.www.parameters import NS_PER_S

FOLDER = Path("/tmp/quic")
SO_RCVBUFFORCE = 33  # socket(7); Python has no name for it
CLIENT_PORT = 40_000
RECEIVE_BYTES = 1 << 25  # what waits in a socket at most; a program reads as soon as it can
FIRST_NS = 1000 * NS_PER_S  # what the programs' clocks show at their start


class Source(source.Source):
    """A server for each pair with the stack of the trial, and one program with all clients."""

    files = ("requests.csv", "quic_cwnd.csv", "qlog.zip")
    checks = (
        requests, server_errors, late_requests, connections, sent_packets, sent_moments,
    )  # fmt: skip

    parameters: Parameters
    _summary: dict[str, Any]

    def run(self, progress: Callable[[int], None]) -> None:
        params, testbed = self.parameters, self.testbed
        asked = schedule.schedule(params, testbed.seed, len(testbed.clients))
        place = Place(
            layer=testbed.layer(LAYER), folder=new_folder(), begin_ns=testbed.whole_second()
        )
        servers = STACKS[params.stack](testbed, params, place)
        # The clients' sockets outlive them, so that late packets find somebody.
        self.sockets = [self._socket(host) for host in testbed.clients]
        with ExitStack() as until_end:
            captures = until_end.enter_context(testbed.programs())
            for host in testbed.servers:
                wire.start(testbed, captures, host.pair, self._capture(place, host.pair))
            with testbed.programs() as programs:
                self._certify(programs, place)
                self._start_servers(programs, servers)
                t0_ns, told = self._begin(programs, place, asked)
                self._wait(t0_ns, progress)
                facts = json.loads(told())
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
        argv = python("certificate", str(self.testbed.seed), str(place.key), str(place.certificate))
        pid = self.testbed.client_pid(1)
        process = programs.start(pid, argv, place.environment(f"{self.testbed.seed} certificate"))
        said = process.communicate()[0]
        if process.returncode:
            raise RuntimeError(f"no certificate was made: {' '.join(said.split())[-300:]}")

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
    ) -> tuple[int, Callable[[], str]]:
        """Start the clients, and the trial when they are connected. Return how to end."""
        read_end, write_end = os.pipe()
        try:
            client = self._start_client(programs, place, asked, read_end)
            await_line(client, "the client")
            t0_ns = self.testbed.whole_second()
            os.write(write_end, (t0_ns - place.begin_ns + FIRST_NS).to_bytes(8, "little"))
        finally:
            os.close(read_end)
            os.close(write_end)

        def told() -> str:
            said = client.communicate()[0]
            if client.returncode:
                raise RuntimeError(f"the client failed: {' '.join(said.split())[-300:]}")
            return said

        return t0_ns, told

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
            "streams": params.streams,
            "window_bytes": params.client_window_bytes,
            "datagram_bytes": datagram_bytes(testbed.mss_bytes),
            "duration_ns": params.duration_ns,
            "qlog": params.qlog == "both",
            "start": start,
        })  # fmt: skip
        environment = place.environment(f"{testbed.seed} clients")
        pid = testbed.client_pid(1)
        return programs.start(pid, python("client", str(spec)), environment, [*descriptors, start])

    def _wait(self, t0_ns: int, progress: Callable[[int], None]) -> None:
        for second in range(1, int(self.parameters.duration_s) + 1):
            self.testbed.sleep_until(t0_ns + second * NS_PER_S)
            self.testbed.sample_tcp(second)
            progress(second)

    def _finish(
        self,
        place: Place,
        servers: Servers,
        facts: list[Mapping[str, Any]],
        asked: tuple[schedule.Request, ...],
        t0_ns: int,
        complaints: list[str],
    ) -> None:
        testbed = self.testbed
        offset_ns = time.time_ns() - time.monotonic_ns()  # of the captures' clock
        access = wire.Access(
            cell_ns=round(testbed.access.cell_time_ns()), delay_ns=testbed.access.delay_ns
        )
        seen: list[wire.Comparison] = []
        lost: list[int] = []
        files: dict[str, list[str]] = {}
        mended: list[int] = []
        with (testbed.folder / "quic_cwnd.csv").open("w", newline="", encoding="ascii") as stream:
            table = csv.writer(stream)
            table.writerow(qlog.COLUMNS)
            for host in testbed.servers:
                name, path = f"s{host.pair}.sqlog", servers.qlog(host.pair)
                files[name], some = qlog.read(path)
                mended.append(some)
                events = list(qlog.events(files[name], name))
                captured = wire.read(self._capture(place, host.pair))
                found = wire.compare(captured, qlog.sent(events), access)
                seen.append(found)
                lost.append(qlog.lost(events))
                if found.offset_ns is not None:
                    begin_ns = found.offset_ns - offset_ns - t0_ns
                    table.writerows(qlog.windows(events, host.pair, begin_ns))
        self._keep(place, files)
        shutil.move(place.folder / "requests.csv", testbed.folder / "requests.csv")
        self._write_flows(facts, asked, lost)
        self._summary = {
            **totals(facts, len(asked)),
            "t0_ns": t0_ns,
            "peer_window_bytes": [None] * len(facts),
            "server_complaints": complaints,
            "unlike_packets": [found.unlike for found in seen],
            "off_ns": [found.off_ns for found in seen],
            "lost_packets": lost,
            "mended_qlog_lines": mended,
        }

    def _keep(self, place: Place, servers: Mapping[str, list[str]]) -> None:
        clients = {}
        if self.parameters.qlog == "both":
            names = [f"c{host.pair}.sqlog" for host in self.testbed.clients]
            clients = {name: qlog.read(place.folder / name)[0] for name in names}
        qlog.pack({**servers, **clients}, self.testbed.folder / "qlog.zip")

    def _write_flows(
        self,
        facts: list[Mapping[str, Any]],
        asked: tuple[schedule.Request, ...],
        lost: list[int],
    ) -> None:
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

    def summary(self) -> dict[str, Any]:
        return self._summary


def totals(facts: list[Mapping[str, Any]], offered: int) -> dict[str, Any]:
    """Return the counts of requests and bytes by their outcome."""
    answered = sum(one["answered"] for one in facts)
    return {
        "offered": offered,
        "answered": answered,
        "outstanding": offered - answered,
        "unsent": 0,
        "waiting": offered - sum(one["sent"] for one in facts),
        "bad_status": sum(one["bad_status"] for one in facts),
        "unexplained_bytes": [one["unexplained_bytes"] for one in facts],
        "max_late_ns": max(one["late_ns"] for one in facts),
        "ended": [one["ended"] for one in facts],
    }


def new_folder() -> Path:
    """Return an empty folder in the lab's memory."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir()
    return FOLDER
