# SPDX-License-Identifier: GPL-2.0-only
"""Closed loop: nginx on every server host, one wrk a client host."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness.agent.daemons import Daemons
from harness.agent.sources.base import Source, whole_second
from harness.agent.sources.servers import PORT, complaints, start_servers
from workload import wrk


class WrkSource(Source):
    """The WWW file mix, the next file asked for when the last is in."""

    _summary: dict[str, Any]

    def run(self, progress: Callable[[int], None]) -> None:
        params = wrk.Parameters(**self.parameters)
        with Daemons() as daemons:
            servers = start_servers(self.network, daemons)
            clients = []
            whole_second()
            for host in self.network.dumbbell.clients():
                paths = Path(f"/tmp/paths-{host.pair}")
                wrk.write_paths(paths, params, self.plan["seed"], host.pair)
                argv = wrk.argv(params, host.peer_ip, PORT, paths)
                clients.append((host.pair, daemons.start(self.client_pid(host.pair), argv)))
            for second in range(1, params.duration_s + 1):
                time.sleep(1)
                self.sample_tcp(second)
                progress(second)
            reports = {pair: wrk.report(process.communicate()[0]) for pair, process in clients}
            said = complaints(servers)
        self._finish(reports, said)

    def _finish(self, reports: dict[int, wrk.Report], said: list[str]) -> None:
        self.write_flows(
            {"pair": pair, "received_bytes": r.received_bytes, "answered": r.answered}
            for pair, r in reports.items()
        )
        errors = ("connect_errors", "read_errors", "write_errors", "status_errors")
        self._summary = {
            "offered": None,
            "accounted": None,
            "max_late_ns": None,
            "bad_status": sum(getattr(r, e) for r in reports.values() for e in errors),
            "answered": sum(r.answered for r in reports.values()),
            "server_complaints": said,
        }

    def summary(self) -> dict[str, Any]:
        return self._summary
