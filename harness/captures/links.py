# SPDX-License-Identifier: GPL-2.0-only
"""Records the bytes that each middle link has carried over time, in links.csv, if they have names.

It counts IP packets with all headers, and retransmissions, where they leave the queues. It has no
keys: its period is that of throughput.csv, whose rows it explains link by link. At the end it reads
its own file and its counters again, so that a check can compare them with the trial's counters
(harness/judge/checks/samples.py).
"""

from __future__ import annotations

import csv
import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from harness.capture import Series
from plan.layout import Layout
from plan.plan import Topology
from plan.queue import Queue
from topology import link_bytes, netlink

Row = tuple[int, int]  # the lab's clock [ns], bytes since the beginning of the capture


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
        self._begin_ns = time.monotonic_ns()
        with netlink.open_here() as self._link:
            self._before = link_bytes.sent(self._link, [*self._ports.values()])
            yield
        self._end_ns = time.monotonic_ns()

    def rows(self) -> Iterator[tuple[str, int]]:
        counted = link_bytes.sent(self._link, [*self._ports.values()])
        for name, before, now in zip(self._ports, self._before, counted, strict=True):
            yield name, now - before

    def drained(self) -> None:
        if self.period_ns:
            with netlink.open_here() as self._link:
                self._carried = dict(self.rows())

    def facts(self) -> dict[str, Any]:
        if not self.period_ns:
            return {}
        layout, written = self.site.plan.topology.layout(), by_queue(self.site.folder / self.file)
        return {"link_samples": {
            name: {
                "carried_ip_bytes": carried,
                "impossible_rows": impossible(written.get(name, []), carried, name, layout),
                "missing_rows": self.missing_rows([at for at, _ in written.get(name, [])]),
            }
            for name, carried in self._carried.items()
        }}  # fmt: skip

    def missing_rows(self, times_ns: Sequence[int]) -> int:
        """Return how many samples have no row of their own; a row too many counts, too.

        The last period may have none.
        """
        period_ns = self.period_ns
        first_ns = self._begin_ns // period_ns * period_ns
        due = {*range(first_ns, self._end_ns - period_ns, period_ns)}
        return len(due - {*times_ns}) + len(times_ns) - len({*times_ns})


def by_queue(path: Path) -> Mapping[str, list[Row]]:
    """Return the rows of links.csv, as the lab wrote it, by the names of the queues."""
    found: dict[str, list[Row]] = {}
    with path.open(newline="", encoding="ascii") as stream:
        for row in csv.DictReader(stream):
            found.setdefault(row["port"], []).append((int(row["time_ns"]), int(row["ip_bytes"])))
    return found


def impossible(rows: Sequence[Row], carried: int, name: str, layout: Layout) -> int:
    """Count the rows of a queue that are less than the row before, or more than the link can carry.

    A link carries a cell (or a byte) in each of its times, and the bucket before it holds one full
    frame. The last row is followed by all that the link carried until the queues were empty.
    """
    middle, _ = layout.queues()[name]
    framing = layout.framing
    bytes_per_ns = framing.payload_bytes / middle.link.unit_time_ns()
    more = 2 * framing.payload_bytes * framing.units(layout.mtu_bytes)
    values = [*rows[:1], *rows]
    wrong = sum(
        not 0 <= after - before <= (end_ns - begin_ns) * bytes_per_ns + more
        for (begin_ns, before), (end_ns, after) in pairwise(values)
    )
    return wrong + sum(after > carried for _, after in rows[-1:])
