# SPDX-License-Identifier: GPL-2.0-only
"""The testbed as a workload sees it (workload/source.py), on the built network."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from harness.agent import tcp_counters
from harness.agent.daemons import Daemons, wait_until
from harness.agent.events import RUN
from harness.agent.shares import layer
from plan.layout import Host
from plan.plan import Plan
from topology import connections, several_paths, subflows
from topology.build import Network
from topology.clock import sleep_until, whole_second
from topology.delay import Delay
from topology.moving import Schedule
from topology.run import at_once, in_namespace, run

# Seconds of the trial at which some sockets are looked at with ss.
SAMPLED_SECONDS = (1, 10, 50)


class Testbed:
    """What a lab lends to the workload of a trial.

    Attributes:
        tcp_samples: second of the trial -> what `ss -ti` said of the first pair's server, and
            where pairs have flavors in turn of the first of each.
        congestion: there, pair -> names of the congestion controls seen at its server's sockets.
    """

    def __init__(
        self,
        network: Network,
        plan: Plan,
        delay: Delay,
        folder: Path,
        snapshot: Callable[[str], None],
        schedule: Schedule | None = None,
    ) -> None:
        self.network = network
        self.plan = plan
        self.delay = delay
        self.folder = folder
        self.seed = plan.seed
        self.shared = RUN
        self.rate_bit_per_s = plan.topology.rate_bit_per_s
        self.access = network.layout.access
        self.mss_bytes = plan.topology.mss_bytes
        self.clients: Sequence[Host] = network.layout.clients()
        self.servers: Sequence[Host] = network.layout.servers()
        self.tcp_samples: dict[int, str] = {}
        self.congestion: dict[int, list[str]] = {}
        self.snapshot = snapshot
        self.wait_until = wait_until
        self.whole_second = schedule.await_begin if schedule else whole_second
        self.sleep_until = sleep_until
        self.at_once = at_once
        self.bundles = network.layout.bundles()
        self.connections = connections.of_host
        self.subflows = subflows.of_host
        self.mptcp_totals = tcp_counters.mptcp_totals
        self.layer = layer
        self.shown_connection = tcp_counters.connection
        self.tcp_totals = tcp_counters.totals

    def client_pid(self, pair: int) -> int:
        return self.network.pids[f"c{pair}"]

    def server_pid(self, pair: int) -> int:
        return self.network.pids[f"s{pair}"]

    def programs(self) -> Daemons:
        return Daemons()

    def inside(self, pid: int) -> AbstractContextManager[None]:
        return in_namespace(pid)

    def leave_first_path(self) -> None:
        several_paths.leave_first(self.network)

    def several_paths(self) -> AbstractContextManager[None]:
        return several_paths.joined(self.network)

    def idle_round_trip_ns(self, ip_bytes: int) -> float:
        layout, wait_ns = self.plan.topology.layout(), self.plan.queue.down.idle_wait_ns
        return layout.idle_round_trip_ns(ip_bytes, wait_ns)

    def sample_tcp(self, second: int) -> None:
        """Look at a sending socket of each flavor; where there are several, whose is whose."""
        flavors = self.plan.tcp.flavors
        if second in SAMPLED_SECONDS:
            shown = [self._shown(pair) for pair in range(1, len(flavors) + 1)]
            self.tcp_samples[second] = " ".join(" ".join(shown).split())
        if len(flavors) > 1:
            for host in self.servers:
                known = set(self.congestion.get(host.pair, ()))
                known |= {one.congestion for one in connections.of_host(self.server_pid(host.pair))}
                self.congestion[host.pair] = sorted(known)

    def _shown(self, pair: int) -> str:
        pid = self.server_pid(pair)
        with in_namespace(pid):
            shown = run(["ss", "-tinoHO", "state", "established"])
        return connections.with_cwnd(shown, connections.of_host(pid))
