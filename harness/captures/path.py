# SPDX-License-Identifier: GPL-2.0-only
"""Captures the packets of a moving path for its checks only: it has no keys and leaves no table."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

from harness import capture
from plan.plan import Plan, Topology
from plan.queue import Queue
from topology.moving import passages


@dataclass(frozen=True, kw_only=True)
class Settings:
    """No keys: each moving path is captured."""

    def wanted(self, topology: Topology, queue: Queue) -> Wanted:
        return Wanted()


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """In the plan: no keys."""


class Capture(capture.Capture[Wanted]):
    """Captures packets if the path moves."""

    during: ClassVar[Literal["trial", "workload"]] = "trial"
    _watch: passages.Watch | None = None

    def __enter__(self) -> object:
        if self.site.plan.topology.path:
            moved = self.site.plan.topology.layout().moved
            pid = self.site.pids[moved.box]
            self._watch = passages.Watch(self.site.folder, pid, moved.devices)
            self._watch.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        if self._watch:
            self._watch.__exit__(*error)

    def facts(self) -> dict[str, Any]:
        return {"passages": self._watch.facts()} if self._watch else {}

    @classmethod
    def keep(cls, plan: Plan, raw: Path, t0_ns: int, folder: Path) -> None:
        """Keep no packets: harness/records/moving.py stores what they show."""
