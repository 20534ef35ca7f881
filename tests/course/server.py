# SPDX-License-Identifier: GPL-2.0-only
"""A class that runs a lab at the same time: `python -m tests.course.server LAB STUDENTS`.

Prints what docs/guides/classroom.md says of a server: processor time, most memory, and when the
first and the last student had results.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from harness.course import handout
from harness.course import lab as labs
from tests.bench.cost import run as bench
from tests.small import PROJECT


def begun(name: str, folder: Path, number: int) -> subprocess.Popen[bytes]:
    """A student's run, in one lab at a time."""
    mine = folder / str(number)
    handout.start(name, mine, f"Student {number}")
    command = [PROJECT / "cellbed", "run", mine / handout.MINE, "--out", mine / handout.CAMPAIGN]
    quiet = subprocess.DEVNULL
    return subprocess.Popen([*command, "--jobs", "1"], stdout=quiet, stderr=quiet)


def main(name: str, students: int) -> None:
    ctypes.CDLL(None).prctl(bench.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    with TemporaryDirectory(prefix="cellbed-class-") as folder:
        begin, before_s = time.monotonic(), bench.used_s()
        runs = [begun(name, Path(folder), number) for number in range(students)]
        ended_s, most_kib = [0.0] * students, 0
        while not all(ended_s):
            most_kib = max(most_kib, sum(map(bench.resident_kib, bench.family(os.getpid()))))
            time.sleep(bench.MEMORY_POLL_S)
            for number, run in enumerate(runs):
                if not ended_s[number] and run.poll() is not None:
                    ended_s[number] = time.monotonic() - begin
        bench.reap_orphans()
        failed = sum(run.returncode != 0 for run in runs)
        print(
            f"{name}, {students} students, {os.cpu_count()} cores, load {os.getloadavg()[1]:.0f}: "
            f"{bench.used_s() - before_s:.0f} CPU s, {most_kib / 1024:.0f} MiB, results after "
            f"{min(ended_s):.0f} to {max(ended_s):.0f} s, {failed} failed"
        )


if __name__ == "__main__":
    main(labs.find(sys.argv[1]), int(sys.argv[2]))
