# SPDX-License-Identifier: GPL-2.0-only
"""As many labs as processors and memory allow to this process, not as the machine has."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from harness.api.experiment import labs_at_once
from harness.host import capacity, memory
from tests.small import PROJECT

ALLOWED = os.sched_getaffinity(0)
GIB = 1 << 30
MEMINFO = "MemTotal: 99999999 kB\nMemAvailable:   {} kB\n"


@pytest.fixture(autouse=True)
def sixteen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with much of all."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(16))
    monkeypatch.setattr(memory, "place", lambda: memory.Place(path=Path("/shm"), free_mib=99_999))


def machine(root: Path, group: str, files: Mapping[str, object], available_gib: int = 64) -> Path:
    """What /proc and /sys say; files: below /sys/fs/cgroup."""
    for name, text in {
        "proc/meminfo": MEMINFO.format(available_gib << 20), "proc/self/cgroup": group,
        **{f"sys/fs/cgroup/{name}": text for name, text in files.items()},
    }.items():  # fmt: skip
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(f"{text}".rstrip() + "\n")
    return root


V2 = "0::/user.slice/job"
V1 = "4:memory:/docker/ab\n3:cpu,cpuacct:/docker/ab\n1:name=systemd:/docker/ab\n0::/docker/ab"
CASES: dict[str, tuple[str, Mapping[str, object], int]] = {
    "nothing less": (V2, {}, 16),
    "no quota": (V2, {"user.slice/job/cpu.max": "max 100000"}, 16),
    "a quota": (V2, {"user.slice/job/cpu.max": "350000 100000"}, 3),
    "less than one": (V2, {"user.slice/job/cpu.max": "50000 100000"}, 1),
    "a quota above": (V2, {"user.slice/cpu.max": "200000 100000"}, 2),
    "a container's root": (V2, {"cpu.max": "400000 100000"}, 4),
    "version 1": (V1, {"cpu,cpuacct/docker/ab/cpu.cfs_quota_us": 200_000,
                       "cpu,cpuacct/docker/ab/cpu.cfs_period_us": 100_000}, 2),
    "version 1, no quota": (V1, {"cpu,cpuacct/docker/ab/cpu.cfs_quota_us": -1,
                                 "cpu,cpuacct/docker/ab/cpu.cfs_period_us": 100_000}, 16),
    "version 1, by the link": (V1, {"cpu/cpu.cfs_quota_us": 500_000,
                                    "cpu/cpu.cfs_period_us": 100_000}, 5),
    "a limit of memory": (V2, {"user.slice/job/memory.max": 4 * GIB,
                               "user.slice/job/memory.current": GIB}, 3),
    "memory that can be dropped": (V2, {"user.slice/job/memory.max": 4 * GIB,
                                        "user.slice/job/memory.current": 4 * GIB,
                                        "user.slice/job/memory.stat":
                                        f"anon 5\ninactive_file {2 * GIB}"}, 2),
    "no limit": (V2, {"user.slice/job/memory.max": "max", "user.slice/job/memory.current": GIB},
                 16),
    "memory, version 1": (V1, {"memory/docker/ab/memory.limit_in_bytes": 6 * GIB,
                               "memory/docker/ab/memory.usage_in_bytes": GIB}, 5),
    "none left": (V2, {"memory.max": GIB, "memory.current": 2 * GIB}, 1),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_control_groups(tmp_path: Path, case: str) -> None:
    group, files, labs = CASES[case]
    assert capacity.capacity(machine(tmp_path, group, files)).labs == labs


def test_the_machines_memory(tmp_path: Path) -> None:
    found = capacity.capacity(machine(tmp_path, V2, {}, available_gib=5))
    assert found == capacity.Capacity(labs=5, bound="memory")
    found = capacity.capacity(machine(tmp_path / "large", V2, {}, available_gib=5), lab_mib=2048)
    assert found == capacity.Capacity(labs=2, bound="memory")


def test_the_room_where_memory_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small = memory.Place(path=Path("/shm"), free_mib=2500)
    monkeypatch.setattr(memory, "place", lambda: small)
    found = capacity.capacity(machine(tmp_path, V2, {}))
    assert found == capacity.Capacity(labs=2, bound="room in /shm")


def test_who_asks_for_more_gets_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capacity, "capacity", lambda: capacity.Capacity(labs=3, bound="memory"))
    assert labs_at_once(None, "uml", "virtual") == 3
    assert labs_at_once(7, "uml", "virtual") == 7
    assert labs_at_once(None, "uml", "real") == 1


def test_a_trial_on_two_labs_counts_as_two(monkeypatch: pytest.MonkeyPatch) -> None:
    for labs, trials in ((1, 1), (2, 1), (5, 2)):
        found = capacity.Capacity(labs=labs, bound="memory")
        monkeypatch.setattr(capacity, "capacity", lambda found=found: found)
        assert labs_at_once(None, "uml", "virtual", linked=True) == trials
    assert labs_at_once(7, "uml", "virtual", linked=True) == 7


def test_this_machine_with_one_processor() -> None:
    one = str(min(ALLOWED))
    code = "from harness.host.capacity import capacity; print(capacity().labs)"
    said = subprocess.run(
        ["taskset", "-c", one, sys.executable, "-c", code], cwd=PROJECT, capture_output=True,
        text=True, check=True,
    )  # fmt: skip
    assert said.stdout == "1\n"
