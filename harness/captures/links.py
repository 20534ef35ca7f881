# SPDX-License-Identifier: GPL-2.0-only
"""Records the bytes that each middle link has carried over time, in links.csv, if they have names.

It counts IP packets with all headers, and retransmissions, where they leave the queues. It has no
keys: its period is that of throughput.csv, whose rows it explains link by link.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from harness.capture import Series
from plan.plan import Topology
from plan.queue import Queue
from topology import link_bytes


@dataclass(frozen=True, kw_only=True)
class Settings:
    """No keys."""

    def wanted(self, topology: Topology, queue: Queue) -> Wanted:
        return Wanted()


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """In the plan: no keys."""


class Capture(Series[Wanted]):
    """Writes a row for each sample and queue: the bytes since the beginning of the capture."""

    file = "links.csv"
    columns = ("port", "ip_bytes")

    @property
    def period_ns(self) -> int:
        plan = self.site.plan
        period_ns: int = plan.record.value("throughput_sample_ns")
        return period_ns if plan.topology.layout().named else 0

    @contextmanager
    def opened(self) -> Iterator[None]:
        self._ports = {port.name: socket.if_nametoindex(port.device) for port in self.site.ports}
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as self._link:
            self._before = link_bytes.sent(self._link, [*self._ports.values()])
            yield

    def rows(self) -> Iterator[tuple[str, int]]:
        counted = link_bytes.sent(self._link, [*self._ports.values()])
        for name, before, now in zip(self._ports, self._before, counted, strict=True):
            yield name, now - before
