# SPDX-License-Identifier: GPL-2.0-only
"""A kernel that has been built: where it is, what it lacks, and whether a trial can run on it."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from harness.host import paths
from plan import struct_ops
from plan.errors import UsageError
from plan.path import MODULE as MOVING
from plan.plan import QUEUES, Flavor, Plan
from plan.since import too_new

NOTE = "kernel.json"
# Linux 6.6 gave netem a seed; the lab's patch 1003 gives it to those from this one on.
NETEM_SEED = (6, 1)
TCP_MODULE = "cellbed_tcp"
COMPILER = "BPF_JIT"


@dataclass(frozen=True, kw_only=True)
class Kernel:
    """What its folder's kernel.json says.

    Attributes:
        name: as it was asked for.
        version: of its source, as 6.1.
        release: its own, as `uname -r` has it.
        hz: its ticks a second; 100 in those that were built before it could be chosen.
        kind: of the recipe that it was built by; empty: that of the experiments.
        source: Debian's package and its version, or the commit, or the folder.
        left_out: titles of the lab's patches that it goes without; none is essential.
        lacks: options of lab/kernel/config that it does not have.
        sysctls: those of net.ipv4 that it knows.
        no_module: why there is no TCP module for it; empty when there is one.
    """

    folder: Path
    name: str
    version: str
    release: str
    source: str
    left_out: Sequence[str]
    lacks: Sequence[str]
    sysctls: Sequence[str]
    no_module: str
    hz: int = 100
    kind: str = ""

    @property
    def identity(self) -> str:
        """Its content."""
        programs = self.folder.glob(f"*{struct_ops.PROGRAM}")
        return paths.content(self.folder / "linux", *self.folder.glob("*.ko"), *programs)

    def fitted(self, plan: Plan) -> Plan:
        """The plan without the sysctls that this kernel does not know.

        Raises:
            UsageError: it lacks the queue, the delay or the congestion control.
        """
        if missing := self.missing(plan):
            raise UsageError(f"kernel {self.name} ({self.release}) has no {missing}")
        first, *others = map(self.known, plan.tcp.flavors)
        return replace(plan, tcp=replace(plan.tcp, flavor=first, others=tuple(others)))

    def known(self, flavor: Flavor) -> Flavor:
        """A flavor without the sysctls that this kernel does not know."""
        for unknown in flavor.sysctl.keys() - set(self.sysctls):
            tell(f"kernel {self.name}: without net.ipv4.{unknown}, which it does not have")
        known = {name: value for name, value in flavor.sysctl.items() if name in self.sysctls}
        return replace(flavor, sysctl=known)

    def missing(self, plan: Plan) -> str:
        """The first thing that a plan needs and this kernel has not."""
        queue = str(getattr(plan.queue.down, "kind", ""))
        if f"NET_SCH_{queue.upper()}" in self.lacks:
            return f"queue {queue}, which queue.kind = {QUEUES.name_of(plan.queue.down)} needs"
        module = plan.queue.down.module
        if module is not None and not (self.folder / f"{module}.ko").exists():
            kind = QUEUES.name_of(plan.queue.down)
            return f"module {module}, which queue.kind = {kind} needs; set-up's kernel has it"
        if plan.topology.path and not (self.folder / f"{MOVING}.ko").exists():
            return f"module {MOVING}, which topology.path needs; set-up's kernel has it"
        if newer := too_new(plan, self.version):
            of_queue = "queue.kind" in newer
            return f"{newer}; queue.kind = drop-tail runs on any kernel" if of_queue else newer
        version = tuple(map(int, self.version.split(".")))
        if version < NETEM_SEED and plan.topology.loss is not None:
            return "netem with a seed (Linux 6.1), which topology.loss needs"
        for flavor in plan.tcp.flavors:
            if flavor.module is None:
                continue
            if struct_ops.is_program(flavor.module) and COMPILER in self.lacks:
                return (
                    f"compiler of BPF programs, which tcp.flavor = {flavor.name} needs; 6.12 has it"
                )
            if not (self.folder / struct_ops.built(flavor.module)).exists():
                needs = f"module {flavor.module}, which tcp.flavor = {flavor.name} needs"
                if flavor.module != TCP_MODULE:
                    return needs
                return f"{needs} ({self.no_module}); cubic and linux-reno run on any kernel"
        return ""


@cache
def tell(text: str) -> None:
    """Once, to the person."""
    print(text, file=sys.stderr)


def read(folder: Path) -> Kernel:
    """The kernel in a folder."""
    return Kernel(folder=folder, **json.loads((folder / NOTE).read_text()))
