# SPDX-License-Identifier: GPL-2.0-only
"""Records the series of the queues under test: queue.csv, drops.csv, down.cellq and up.cellq.

Each kind of queue writes them in its own way and tells which of them it supports (plan/queue.py).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from harness import capture
from harness.capture import MOST_PERIOD_MS
from plan.plan import QUEUES, Plan, Topology
from plan.queue import Queue
from plan.schema import ZeroOr

# The loader accepts no shorter period.
LEAST_MS = 0.01


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Each frame, each drop, and the sampling period of queue.csv [ms]."""

    frames: Annotated[
        bool,
        "true: the files down.cellq and up.cellq have every frame. The queue must then be of kind"
        " `cells`.",
    ] = False
    drops: Annotated[
        bool,
        "true: drops.csv has a row for each drop. The queue must then be of kind `cells`.",
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

    @classmethod
    def keep(cls, plan: Plan, raw: Path, t0_ns: int, folder: Path) -> None:
        frames = plan.record.of(Wanted).frames
        plan.queue.down.write_series(raw, t0_ns, folder, frames=frames)

    @classmethod
    def so_far(cls, plan: Plan, raw: Path, t0_ns: int, folder: Path) -> None:
        plan.queue.down.write_series(raw, t0_ns, folder, frames=False)
