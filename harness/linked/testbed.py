# SPDX-License-Identifier: GPL-2.0-only
"""The testbed of a workload of which one half runs in this lab."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.agent import tcp_counters
from harness.agent.daemons import Daemons
from harness.agent.testbed import Testbed
from harness.linked.wire import Wire
from topology import connections
from topology.clock import NS_PER_S, sleep_until

# side -> the end of a pair (workload/iperf) that runs there.
ENDS = {"senders": "server", "receivers": "client"}


class Elsewhere:
    """A program that runs in the other lab."""

    def communicate(self) -> tuple[str, None]:
        return "", None


class HalfDaemons(Daemons):
    """Starts the programs of this lab's hosts only."""

    def __init__(self, absent: frozenset[int]) -> None:
        super().__init__()
        self._absent = absent

    def start(self, pid: int, *words: Any, **more: Any) -> Any:
        return Elsewhere() if pid in self._absent else super().start(pid, *words, **more)


class HalfTestbed(Testbed):
    """What a lab lends to its half of a workload.

    Attributes:
        end: "server" or "client", the end of each pair that is in this lab.
        meet: waits until the other lab has come as far.
    """

    def __init__(self, wire: Wire, side: str, *words: Any) -> None:
        super().__init__(*words)
        self.end = ENDS[side]
        self.meet: Callable[[], int] = wire.meet
        self.whole_second = self._whole_second
        letter = "c" if self.end == "server" else "s"
        pids = self.network.pids
        self._absent = frozenset(pids[f"{letter}{host.pair}"] for host in self.clients)
        self.connections = self._connections
        self.shown_connection = self._shown_connection

    def _whole_second(self) -> int:
        """Sleep until the same whole second in both labs; return it [ns]."""
        at_ns = (self.meet() // NS_PER_S + 1) * NS_PER_S
        sleep_until(at_ns)
        return at_ns

    def programs(self) -> HalfDaemons:
        return HalfDaemons(self._absent)

    def sample_tcp(self, second: int) -> None:
        if self.end == "server":
            super().sample_tcp(second)

    def _connections(self, pid: int) -> list[connections.Connection]:
        return [] if pid in self._absent else connections.of_host(pid)

    def _shown_connection(self, pid: int, port: int) -> dict[str, str]:
        return {} if pid in self._absent else tcp_counters.connection(pid, port)
