# SPDX-License-Identifier: GPL-2.0-only
"""Records the series of the queues under test: queue.csv, drops.csv, down.cellq and up.cellq.

Each kind of queue writes them in its own way and tells which of them it supports (plan/queue.py).
"""

from __future__ import annotations

import csv
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from harness import capture
from harness.capture import MOST_PERIOD_MS
from plan.plan import QUEUES, Plan, Topology
from plan.queue import Queue
from plan.schema import ZeroOr
from topology.qdisc import SERIES

# The loader accepts no shorter period.
LEAST_MS = 0.01


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Each frame, each drop, and the sampling period of queue.csv [ms]."""

    frames: Annotated[
        bool,
        "true: the files down.cellq and up.cellq have one entry for each frame, also for each"
        " dropped frame. No entry has the contents of the frame. With true, the queue must be of"
        " kind `cells`.",
    ] = False
    drops: Annotated[
        bool,
        "true: drops.csv has a row for each drop. With true, the queue must be of kind `cells`.",
    ] = False
    queue_sample_ms: Annotated[
        float,
        ZeroOr(LEAST_MS, MOST_PERIOD_MS),
        "The time between two samples in queue.csv. With 0, the trial does not write this file.",
    ] = 0

    def wanted(self, topology: Topology, queue: Queue) -> Wanted:
        for key, value in asdict(self).items():
            if value and key not in queue.recordable:
                raise ValueError(f"record.{key}: not with queue.kind = {QUEUES.name_of(queue)}")
        period_ns = round(self.queue_sample_ms * 1e6)
        return Wanted(frames=self.frames, drops=self.drops, queue_sample_ns=period_ns)


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """The same settings in the plan. The queues are loaded with these values."""

    frames: bool
    drops: bool
    queue_sample_ns: int


class Capture(capture.Programs[Wanted]):
    """Runs one program for each port, if the kind of queue has one."""

    during: ClassVar[Literal["trial", "workload"]] = "trial"

    def commands(self) -> list[list[str]]:
        queues, folder = self.site.plan.queue, self.site.folder
        wanted = [queues.at(port.direction).record_argv(port, folder) for port in self.site.ports]
        return [argv for argv in wanted if argv]

    def facts(self) -> dict[str, Any]:
        """Return the largest values of each queue's series, if the links have names."""
        if not self.site.plan.topology.layout().named:
            return {}
        series = {one.name: self.site.folder / f"{one.name}.qdisc.csv" for one in self.site.ports}
        found = {name: largest(path) for name, path in series.items() if path.exists()}
        return {"longest": found} if found else {}

    @classmethod
    def keep(cls, plan: Plan, raw: Path, t0_ns: int, folder: Path) -> None:
        frames = plan.record.of(Wanted).frames
        queues = [*plan.topology.layout().queues()]
        plan.queue.down.write_series(raw, t0_ns, folder, frames=frames, queues=queues)

    @classmethod
    def so_far(cls, plan: Plan, raw: Path, t0_ns: int, folder: Path) -> None:
        queues = [*plan.topology.layout().queues()]
        plan.queue.down.write_series(raw, t0_ns, folder, frames=False, queues=queues)


def largest(path: Path) -> dict[str, int]:
    """Return the largest value of each column of a queue of packets' series (topology/qdisc.py)."""
    with path.open(newline="", encoding="ascii") as stream:
        rows = [[int(value) for value in row[1:]] for row in csv.reader(stream)]
    return dict(zip(SERIES, map(max, zip(*rows, strict=True)), strict=False)) if rows else {}
