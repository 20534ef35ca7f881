# SPDX-License-Identifier: GPL-2.0-only
"""The packets of a moving path, for its checks: in no record, and in no experiment's keys."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

from harness import capture
from plan.plan import Plan, Topology
from plan.queue import Queue
from topology.commands import BOX
from topology.moving import passages


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Nothing: a path that moves is watched."""

    def wanted(self, topology: Topology, queue: Queue) -> Wanted:
        return Wanted()


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """In the plan: nothing."""


class Capture(capture.Capture[Wanted]):
    """Watches where the path moves."""

    during: ClassVar[Literal["trial", "workload"]] = "trial"
    _watch: passages.Watch | None = None

    def __enter__(self) -> object:
        if self.site.plan.topology.path:
            self._watch = passages.Watch(self.site.folder, self.site.pids[BOX])
            self._watch.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        if self._watch:
            self._watch.__exit__(*error)

    def facts(self) -> dict[str, Any]:
        return {"passages": self._watch.facts()} if self._watch else {}

    @classmethod
    def keep(cls, plan: Plan, raw: Path, t0_ns: int, folder: Path) -> None:
        """The packets are not kept: harness/records/moving.py has what they show."""
