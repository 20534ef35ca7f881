# SPDX-License-Identifier: GPL-2.0-only
"""Runs the WWW workload in a lab."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

from workload import source
from workload.checks import late_requests, receiver_window, requests, server_errors
from workload.nginx_servers import PORT, complaints, start_server
from workload.source import Programs, Testbed
from workload.www import schedule, www_client
from workload.www.parameters import NS_PER_S, Parameters

CLIENT = Path("/opt/cellbed/www_client")
# Of a server: its listening socket and one connection. nginx closes idle connections when fewer
# than a sixteenth of all are free.
CONNECTIONS_A_HOST = 8
SYN_IP_BYTES = 60  # with all options of TCP


# How long a connection may take: the kernel repeats a lost SYN after a second and more.
CONNECT_NS, CONNECT_ROUND_TRIPS = 30 * NS_PER_S, 10


def connect_ns(testbed: Testbed) -> int:
    """Return how long the client waits for its connections."""
    return CONNECT_NS + round(CONNECT_ROUND_TRIPS * testbed.idle_round_trip_ns(SYN_IP_BYTES))


class Source(source.Source):
    """The workload of 98-0876R1, section 5."""

    files = ("requests.csv",)
    begins_itself = True
    checks = (requests, server_errors, receiver_window, late_requests)

    parameters: Parameters
    _summary: dict[str, Any]

    def run(self, progress: Callable[[int], None]) -> None:
        params, testbed = self.parameters, self.testbed
        requests = schedule.schedule(params, testbed.seed, len(testbed.clients))
        www_client.prepare(testbed.folder, params, self._pairs(), requests)
        with testbed.programs() as programs:
            joined = params.server_stream == "joined"
            server = start_server(
                testbed, programs, joined=joined, connections_a_host=CONNECTIONS_A_HOST
            )
            stdout = self._run_client(programs, params, progress)
            said = complaints(server)
        record = www_client.read(testbed.folder, stdout)
        self.write_flows(dataclasses.asdict(flow) for flow in record.flows)
        self._summary = summarise(record, said)
        (testbed.folder / "www.spec").unlink()

    def _run_client(
        self, programs: Programs, params: Parameters, progress: Callable[[int], None]
    ) -> str:
        argv = www_client.argv(
            CLIENT, self.testbed.folder, params, connect_ns=connect_ns(self.testbed)
        )
        process = programs.start(self.testbed.client_pid(1), argv)
        assert process.stdout is not None
        lines = []
        for line in process.stdout:
            lines.append(line)
            state = www_client.progress(line)
            if state is not None:
                self.testbed.sample_tcp(state.second)
                progress(state.second)
        if process.wait() != 0:
            raise RuntimeError(f"www_client failed: {' '.join(lines[-1:])[:300].strip()}")
        return "".join(lines)

    def _pairs(self) -> list[www_client.Pair]:
        return [
            www_client.Pair(
                pair=host.pair,
                client_netns=f"/proc/{self.testbed.client_pid(host.pair)}/ns/net",
                server_netns=f"/proc/{self.testbed.server_pid(host.pair)}/ns/net",
                server_address=host.peer_ip,
                server_port=PORT,
            )
            for host in self.testbed.clients
        ]

    def summary(self) -> dict[str, Any]:
        return self._summary


def summarise(record: www_client.Record, said: list[str]) -> dict[str, Any]:
    """Return the client's totals, and the counts of requests and bytes by their outcome."""
    totals = dataclasses.asdict(record.summary)
    answered = [a for a in record.answers if a.last_byte_ns is not None]
    return {
        **totals,
        "offered": totals["requests"],
        "unsent": sum(a.sent_ns is None for a in record.answers),
        "bad_status": sum(a.status != 200 for a in answered),
        "unexplained_bytes": www_client.unexplained_bytes(record),
        "peer_window_bytes": [flow.peer_window_bytes for flow in record.flows],
        "server_complaints": said,
    }
