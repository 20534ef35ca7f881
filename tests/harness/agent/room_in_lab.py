# SPDX-License-Identifier: GPL-2.0-only
"""Runs inside a lab, for test_room.py: the module that gives memory back to the host.

Usage: room_in_lab.py RESULT.json
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

sys.path.insert(0, "/cellbed")

from harness.agent import room  # noqa: E402
from harness.agent.power_off import power_off  # noqa: E402

MIB = 1 << 20
FOLDER = Path("/tmp/room")  # noqa: S108 (of the lab)
FREE_MIB, FILLED_MIB = 64, 320


def free_mib() -> int:
    """What the lab's kernel calls free."""
    lines = Path("/proc/meminfo").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("MemFree:")) >> 10


def piece(number: int) -> bytes:
    """A MiB that differs from each other MiB; every second page of it has zeros."""
    return (number.to_bytes(4, "little") * 1024 + bytes(4096)) * (MIB // 8192)


def fill(mib: int) -> None:
    for number in range(mib):
        (FOLDER / str(number)).write_bytes(piece(number))


def is_same(mib: int) -> bool:
    return all((FOLDER / str(number)).read_bytes() == piece(number) for number in range(mib))


def run() -> dict[str, object]:
    room.FREE_MIB = FREE_MIB
    FOLDER.mkdir()
    os.system(f"mount -t tmpfs -o size=480m room {FOLDER}")  # noqa: S605 S607
    result: dict[str, object] = {"free before": free_mib()}
    fill(32)
    result["first"] = room.give_back(0)
    result["free"] = free_mib()
    result["first content"] = is_same(32)
    fill(FILLED_MIB)
    result["second content"] = is_same(FILLED_MIB)
    result["blocks when full"] = int(room.FILE.read_text().split()[1])
    for path in FOLDER.iterdir():
        path.unlink()
    result["second"] = room.give_back(0)
    fill(FILLED_MIB)
    return result | {"third content": is_same(FILLED_MIB)}


if __name__ == "__main__":
    try:
        Path(sys.argv[1]).write_text(json.dumps(run()))
    finally:
        power_off()
