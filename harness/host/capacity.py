# SPDX-License-Identifier: GPL-2.0-only
"""How many labs this machine carries at a time: processors and memory that this process may have.

A container, a job of a batch system or `taskset` may have less than the machine does.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.host import memory

MIB = 1 << 20
ROOT = Path("/")
# Of a cgroup's processor time, version 2 and version 1: files with quota and period.
QUOTA = (("cpu.max", "cpu.max"), ("cpu.cfs_quota_us", "cpu.cfs_period_us"))
# Of its memory: the limit, what is used, and of that by name what can be dropped.
MEMORY = (
    ("memory.max", "memory.current", "inactive_file"),
    ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
)


@dataclass(frozen=True, kw_only=True)
class Capacity:
    """How many labs at a time, and what there is not more of."""

    labs: int
    bound: str


def capacity(root: Path = ROOT, lab_mib: int = memory.PER_LAB_MIB) -> Capacity:
    """The least that processors and memory allow; one lab at least.

    Args:
        lab_mib: what a lab may touch of the memory [MiB].
    """
    place = memory.place()
    bounds = [
        (len(os.sched_getaffinity(0)), "processors that this process may run on"),
        *((int(cores), "processor time of the control group") for cores in quotas(root)),
        (available_mib(root) // lab_mib, "memory"),
        (place.free_mib // lab_mib, f"room in {place.path}"),
    ]
    labs, bound = min(bounds, key=lambda one: one[0])
    return Capacity(labs=max(1, labs), bound=bound)


def available_mib(root: Path = ROOT) -> int:
    """Memory that can be had now, by the machine and by the control groups."""
    fields = dict(line.split(":", 1) for line in (root / "proc/meminfo").read_text().splitlines())
    machine = int(fields["MemAvailable"].split()[0]) * 1024
    return min([machine, *memory_left(root)]) // MIB


def quotas(root: Path) -> Iterator[float]:
    """Of each control group that has a quota: how many processors it comes to."""
    for folder in groups(root, "cpu"):
        for names in QUOTA:
            # cpu.max is "QUOTA PERIOD" in one file.
            words = [word for name in dict.fromkeys(names) for word in read(folder / name)]
            if len(words) == 2 and words[0] not in ("max", "-1"):
                yield int(words[0]) / int(words[1])


def memory_left(root: Path) -> Iterator[int]:
    """Of each control group that has a limit: the bytes that can still be had."""
    for folder in groups(root, "memory"):
        for limit_name, used_name, droppable in MEMORY:
            limit, used = read(folder / limit_name), read(folder / used_name)
            if limit and used and limit[0] != "max":
                words = read(folder / "memory.stat")
                stat = dict(zip(words[::2], words[1::2], strict=True))
                yield max(0, int(limit[0]) - int(used[0]) + int(stat.get(droppable, 0)))


def groups(root: Path, controller: str) -> Iterator[Path]:
    """The control groups of this process that could limit it, up to the root of what it sees.

    A container may be told its path on the machine, and see its own group as the root.
    """
    top = root / "sys/fs/cgroup"
    for line in (root / "proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers and controller not in controllers.split(","):
            continue
        for base in [top / controllers, top / controller] if controllers else [top]:
            if base.is_dir():
                inner = Path(path.lstrip("/"))
                yield from (base / part for part in (inner, *inner.parents))
                break


def read(path: Path) -> list[str]:
    """The words of a file; none where there is no such file."""
    try:
        return path.read_text().split()
    except OSError:
        return []
