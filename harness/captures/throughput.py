# SPDX-License-Identifier: GPL-2.0-only
"""Records the bytes delivered to each client over time, in throughput.csv, for all workloads.

It counts IP packets on the client's access link, with all headers and retransmissions.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated

from harness.capture import MOST_PERIOD_MS, Series
from plan.plan import Topology
from plan.queue import Queue
from plan.schema import ZeroOr
from topology import link_bytes

# For each sample, the kernel dumps all links of the switches, which takes time.
LEAST_MS = 1


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The sampling period [ms]."""

    throughput_sample_ms: Annotated[
        float,
        ZeroOr(LEAST_MS, MOST_PERIOD_MS),
        "The time between two samples in throughput.csv. With 0, the trial does not write this"
        " file.",
    ] = 1000

    def wanted(self, topology: Topology, queue: Queue) -> Wanted:
        return Wanted(throughput_sample_ns=round(self.throughput_sample_ms * 1e6))


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """The same settings in the plan."""

    throughput_sample_ns: int


class Capture(Series[Wanted]):
    """Writes a row for each sample and pair: the bytes since the beginning of the capture.

    The capture begins before the workload.
    """

    file = "throughput.csv"
    columns = ("pair", "ip_bytes")

    @property
    def period_ns(self) -> int:
        return self.wanted.throughput_sample_ns

    @contextmanager
    def opened(self) -> Iterator[None]:
        clients = self.site.plan.topology.layout().clients()
        self._ports = {client.pair: client.switch_ifindex for client in clients}
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as self._link:
            self._before = link_bytes.sent(self._link, [*self._ports.values()])
            yield

    def rows(self) -> Iterator[tuple[int, int]]:
        counted = link_bytes.sent(self._link, [*self._ports.values()])
        for pair, before, now in zip(self._ports, self._before, counted, strict=True):
            yield pair, now - before
