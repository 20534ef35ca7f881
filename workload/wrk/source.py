# SPDX-License-Identifier: GPL-2.0-only
"""Runs the closed loop in a lab."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from workload import source
from workload.checks import receiver_window, server_errors
from workload.nginx_servers import PORT, complaints, start_server
from workload.wrk import wrk
from workload.wrk.checks import answers
from workload.wrk.parameters import Parameters

NS_PER_S = 1_000_000_000


class Source(source.Source):
    """The WWW file mix; a client asks for the next file when it has the last one."""

    checks = (answers, server_errors, receiver_window)

    parameters: Parameters
    _summary: dict[str, Any]

    def run(self, progress: Callable[[int], None]) -> None:
        params, testbed = self.parameters, self.testbed
        with testbed.programs() as programs:
            server = start_server(testbed, programs)
            clients = []
            t0_ns = testbed.whole_second()
            for host in testbed.clients:
                paths = Path(f"/tmp/paths-{host.pair}")
                wrk.write_paths(paths, params, testbed.seed, host.pair)
                argv = wrk.argv(params, host.peer_ip, PORT, paths)
                clients.append((host.pair, programs.start(testbed.client_pid(host.pair), argv)))
            for second in range(1, params.duration_s):
                time.sleep(1)
                testbed.sample_tcp(second)
                progress(second)
            testbed.sleep_until(t0_ns + params.duration_s * NS_PER_S - NS_PER_S // 2)
            told = [self._peer_window(pair) for pair, _ in clients]
            testbed.sleep_until(t0_ns + params.duration_s * NS_PER_S)
            testbed.sample_tcp(params.duration_s)
            progress(params.duration_s)
            reports = {pair: wrk.report(process.communicate()[0]) for pair, process in clients}
            said = complaints(server)
        self._finish(params, reports)
        self._summary |= {"peer_window_bytes": told, "server_complaints": said, "t0_ns": t0_ns}

    def _peer_window(self, pair: int) -> int | None:
        """Return the last window that a server got; its connection lasts to the very end."""
        found = self.testbed.connections(self.testbed.server_pid(pair))
        return found[0].peer_window_bytes if found else None

    def _finish(self, params: Parameters, reports: dict[int, wrk.Report]) -> None:
        self.write_flows(
            {"pair": pair, "received_bytes": r.received_bytes, "answered": r.answered}
            for pair, r in reports.items()
        )
        errors = ("connect_errors", "read_errors", "write_errors", "status_errors")
        self._summary = {
            "failed_calls": sum(getattr(r, e) for r in reports.values() for e in errors),
            "answered": sum(r.answered for r in reports.values()),
            "unexplained_bytes": [
                wrk.unexplained_bytes(params, self.testbed.seed, pair, r)
                for pair, r in reports.items()
            ],
        }

    def summary(self) -> dict[str, Any]:
        return self._summary
