# SPDX-License-Identifier: GPL-2.0-only
"""The testbed as a workload sees it (workload/source.py), on the built network."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from harness.agent import connections, tcp_counters
from harness.agent.daemons import Daemons, wait_until
from harness.plan import Plan
from topology.build import Network
from topology.clock import sleep_until, whole_second
from topology.dumbbell import Host
from topology.run import in_namespace, run

# Seconds of the trial at which one pair's sockets are looked at with ss.
SAMPLED_PAIR = 1
SAMPLED_SECONDS = (1, 10, 50)


class Testbed:
    """What a lab lends to the workload of a trial.

    Attributes:
        tcp_samples: second of the trial -> what `ss -ti` said of the first pair's server.
    """

    def __init__(
        self, network: Network, plan: Plan, folder: Path, snapshot: Callable[[str], None]
    ) -> None:
        self.network = network
        self.plan = plan
        self.folder = folder
        self.seed = plan.seed
        self.clients: Sequence[Host] = network.dumbbell.clients()
        self.servers: Sequence[Host] = network.dumbbell.servers()
        self.tcp_samples: dict[int, str] = {}
        self.snapshot = snapshot
        self.wait_until = wait_until
        self.whole_second = whole_second
        self.sleep_until = sleep_until
        self.connections = connections.of_host
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

    def sample_tcp(self, second: int) -> None:
        """Look at the first pair's sending socket."""
        if second in SAMPLED_SECONDS:
            pid = self.server_pid(SAMPLED_PAIR)
            with in_namespace(pid):
                shown = run(["ss", "-tinoHO", "state", "established"])
            told = connections.with_cwnd(shown, connections.of_host(pid))
            self.tcp_samples[second] = " ".join(told.split())
