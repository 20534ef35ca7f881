# SPDX-License-Identifier: GPL-2.0-only
"""The interface of a workload inside the lab, and the flow table that each must leave."""

from __future__ import annotations

import csv
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from harness.agent import connections
from topology.build import Network
from topology.run import in_namespace, run

FLOW_COLUMNS = (
    "pair,received_bytes,scheduled_bytes,requests,answered,"
    "retransmits,timeouts,cwnd_segments,ssthresh_segments,srtt_us"
).split(",")
# Seconds of the trial at which one pair's sockets are looked at with ss.
SAMPLED_PAIR = 1
SAMPLED_SECONDS = (1, 10, 50)


class Source(ABC):
    """A workload on the network.

    Attributes:
        tcp_samples: second of the trial -> what `ss -ti` said of the first pair's server.
        snapshot: notes the queues' counters under a name, at a moment that the source chooses.
    """

    def __init__(self, network: Network, plan: dict[str, Any], folder: Path) -> None:
        self.network = network
        self.plan = plan
        self.folder = folder
        self.tcp_samples: dict[int, str] = {}
        self.snapshot: Callable[[str], None] = lambda name: None
        self.parameters = {k: v for k, v in plan["workload"].items() if k != "kind"}

    @abstractmethod
    def run(self, progress: Callable[[int], None]) -> None:
        """Run to the end, leaving flows.csv in the folder; `progress` once a virtual second."""

    @abstractmethod
    def summary(self) -> dict[str, Any]:
        """Totals for the record, and what the checks want to know (harness/judge/checks.py).

        peer_window_bytes: the window that each pair's sender was last told, None where it is
        not known. Where the workload has such: offered, unsent, bad_status, unexplained_bytes
        (requests); idle_sources; server_complaints; max_late_ns.
        """

    def client_pid(self, pair: int) -> int:
        """Process that holds the namespace of client `pair`."""
        return self.network.pids[f"c{pair}"]

    def server_pid(self, pair: int) -> int:
        """Process that holds the namespace of server `pair`."""
        return self.network.pids[f"s{pair}"]

    def sample_tcp(self, second: int) -> None:
        """Look at the first pair's sending socket."""
        if second in SAMPLED_SECONDS:
            pid = self.server_pid(SAMPLED_PAIR)
            with in_namespace(pid):
                shown = run(["ss", "-tinoHO", "state", "established"])
            told = connections.with_cwnd(shown, connections.of_host(pid))
            self.tcp_samples[second] = " ".join(told.split())

    def write_flows(self, rows: Iterable[Mapping[str, object]]) -> None:
        """Write flows.csv; a value that is None or absent is an empty cell."""
        with (self.folder / "flows.csv").open("w", newline="", encoding="ascii") as stream:
            table = csv.DictWriter(stream, FLOW_COLUMNS, restval="", extrasaction="ignore")
            table.writeheader()
            table.writerows(rows)
