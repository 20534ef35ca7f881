# SPDX-License-Identifier: GPL-2.0-only
"""Persistent sources: one iperf3 pair a host pair, greedy for the whole trial."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from harness.agent.daemons import Daemons, wait_until
from harness.agent.sources.base import Source
from workload import iperf, ready


class IperfSource(Source):
    """Data flow from server i to client i; the receiver listens."""

    _versions: set[str]

    def run(self, progress: Callable[[int], None]) -> None:
        params = iperf.Parameters(**self.parameters)
        pairs = [host.pair for host in self.network.dumbbell.clients()]
        listens_at_client = iperf.listen_host(params) == "client"
        listening = self.client_pid if listens_at_client else self.server_pid
        sending = self.server_pid if listens_at_client else self.client_pid
        hosts = self.network.dumbbell.clients() if listens_at_client else (
            self.network.dumbbell.servers()
        )
        with Daemons() as daemons:
            for pair in pairs:
                daemons.start(listening(pair), iperf.listen_argv(params))
            wait_until(
                lambda: all(ready.is_listening(listening(p), params.port) for p in pairs), "iperf3"
            )
            sources = [
                daemons.start(sending(h.pair), iperf.source_argv(params, h.ip)) for h in hosts
            ]
            self._watch(params.duration_s, progress)
            reports = [iperf.report(process.communicate()[0]) for process in sources]
        self._versions = {report.version for report in reports}
        self.write_flows(
            {
                "pair": pair,
                "received_bytes": report.received_bytes,
                "retransmits": report.retransmits,
            }
            for pair, report in zip(pairs, reports, strict=True)
        )

    def _watch(self, duration_s: int, progress: Callable[[int], None]) -> None:
        for second in range(1, duration_s + 1):
            time.sleep(1)
            self.sample_tcp(second)
            progress(second)

    def summary(self) -> dict[str, Any]:
        return {
            "offered": None,
            "accounted": None,
            "max_late_ns": None,
            "iperf3": sorted(self._versions),
        }
