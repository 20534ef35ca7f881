# SPDX-License-Identifier: GPL-2.0-only
"""Runs inside a lab, for test_room.py: the module that gives memory back to the host.

Usage: room_in_lab.py RESULT.json
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import sys
from contextlib import suppress
from pathlib import Path

sys.path.insert(0, "/cellbed")

from harness.agent import room  # noqa: E402
from harness.agent.kernel_log import KernelComplaintError, KernelLog  # noqa: E402
from harness.agent.power_off import power_off  # noqa: E402
from topology import modules  # noqa: E402

MIB = 1 << 20
FOLDER = Path("/tmp/room")  # noqa: S108 (of the lab)
FREE_MIB, FILLED_MIB = 128, 320
BURSTS, BURST_MIB = 7, 40
DELETE_MODULE = 176
READ = Path(sys.executable)
TABLE = re.compile(r"(\w+)[- ]cache hash table entries: (\d+)")
SYSCTLS = ("dirty_bytes", "dirty_background_bytes", "watermark_scale_factor")


def free_mib() -> int:
    """What the lab's kernel calls free."""
    return room.memory_mib()["MemFree"]


def kept_blocks() -> int:
    """Of 4 MiB, of which the module keeps the descriptions away now."""
    return int(room.FILE.read_text().split()[1])


def sysctls() -> dict[str, int]:
    return {name: int((room.SYSCTLS / name).read_text()) for name in SYSCTLS}


def burst() -> int:
    """How many pages several bursts of packets did not get."""
    modules.BUILT = Path("/run/cellbed")
    modules.insert("burst", f"bursts={BURSTS} mib={BURST_MIB}")
    failed = int(Path("/sys/module/burst/parameters/failed").read_text())
    ctypes.CDLL(None).syscall(DELETE_MODULE, b"burst", 0)
    return failed


def piece(number: int) -> bytes:
    """A MiB that differs from each other MiB; every second page of it has zeros."""
    return (number.to_bytes(4, "little") * 1024 + bytes(4096)) * (MIB // 8192)


def fill(mib: int) -> None:
    for number in range(mib):
        (FOLDER / str(number)).write_bytes(piece(number))


def is_same(mib: int) -> bool:
    return all((FOLDER / str(number)).read_bytes() == piece(number) for number in range(mib))


def ready_pages() -> int:
    """How many pages go back when a MiB, half of it zeros, has been freed: it is held ready."""
    (FOLDER / "1").write_bytes(piece(1))
    room.give_back(0)
    (FOLDER / "1").unlink()
    return room.give_back(0)[0]


def mapped_kib() -> int:
    """How much of the image this process has in its memory."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("RssFile:"))


def hash_tables() -> dict[str, int]:
    """How many entries the kernel has made room for at its boot, by the table's name."""
    descriptor = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK)
    said = []
    with suppress(BlockingIOError):
        while True:
            said.append(os.read(descriptor, 8192).decode())
    return {name: int(number) for name, number in TABLE.findall("".join(said))}


def run() -> dict[str, object]:
    room.FREE_MIB, log = FREE_MIB, KernelLog()
    FOLDER.mkdir()
    os.system(f"mount -t tmpfs -o size=480m room {FOLDER}")  # noqa: S605 S607
    result: dict[str, object] = {"free before": free_mib()}
    fill(32)
    result["first"] = room.give_back(0)
    result["free"] = free_mib()
    result["first content"] = is_same(32)
    fill(FILLED_MIB)
    result["second content"] = is_same(FILLED_MIB)
    result["blocks when full"] = kept_blocks()
    for path in FOLDER.iterdir():
        path.unlink()
    result["second"] = room.give_back(0)
    result["sysctls"] = sysctls()
    fill(FILLED_MIB)
    result["third content"] = is_same(FILLED_MIB)
    for path in FOLDER.iterdir():
        path.unlink()
    result["third"] = room.give_back(0)
    result |= {"ready": ready_pages(), "tables": hash_tables()}
    result["mapped"], before = mapped_kib(), READ.read_bytes()
    room.give_back(0, files=True)
    result["mapped after"] = mapped_kib()
    result["file content"] = READ.read_bytes() == before
    result |= {"failed": burst(), "blocks after bursts": kept_blocks()}
    try:
        log.refuse_complaints()
    except KernelComplaintError as complaint:
        result["complaint"] = str(complaint)
    return result


if __name__ == "__main__":
    try:
        Path(sys.argv[1]).write_text(json.dumps(run()))
    finally:
        power_off()
