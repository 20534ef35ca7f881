# SPDX-License-Identifier: GPL-2.0-only
"""What a trial costs on one core while something is done on another: what two labs share.

    python -m tests.bench.cost.beside [TURNS] [EXPERIMENT FACTOR=LEVEL ...]

in the project's environment, on a machine with two cores that does nothing else. The trials of
one lab, bound to the first core, with each neighbour on the second in turn; so TURNS times (3).
Wall and processor time are those of a trial alone, without the boot and what belongs to the first.
"""

from __future__ import annotations

import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from harness import events
from tests.bench.cost.profile import CELL, EXPERIMENT
from tests.bench.cost.run import NEW, only
from tests.bench.cost.words import words

TURNS = 3
TRIALS = 3  # of which the first is left out
MANY = 50  # trials of a neighbour, which is ended before them
POLL_S = 0.5
LAB = "a second lab"
# Programs of Python, each with one thing that it does much of.
NEIGHBOURS = {
    "nothing": "import signal; signal.pause()",
    "computing, in its own cache": "while True: pass",
    "copying memory, 256 MiB at a time": """
a, b = bytearray(256 << 20), bytearray(256 << 20)
while True: b[:] = a
""",
    "taking and giving back cleared pages": """
import mmap
flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | mmap.MAP_POPULATE
while True: mmap.mmap(-1, 16 << 20, flags=flags).close()
""",
    "switching between two processes": """
import os
(r, w), (s, x) = os.pipe(), os.pipe()
if os.fork(): os.write(x, b"a")
else: r, x = s, w
while True: os.write(x, os.read(r, 1))
""",
    LAB: "",
}  # fmt: skip


class Cell:
    """A cell of an experiment, of which a lab runs trials."""

    def __init__(self, words: Sequence[str]) -> None:
        file, *levels = words or (EXPERIMENT, *CELL)
        self._command = [str(NEW / "cellbed"), "run", file, *only(levels), "--jobs", "1"]

    def command(self, out: Path, trials: int) -> list[str]:
        """The command that runs so many trials into a folder."""
        return [*self._command, "--seeds", str(trials), "--out", str(out)]


def begin(core: int, argv: Sequence[str], folder: str) -> subprocess.Popen[bytes]:
    """Begin a program on a core, silent, in a session of its own; folder: for what it leaves."""
    return subprocess.Popen(
        ["taskset", "-c", str(core), *argv], start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env={**os.environ, "TMPDIR": folder},
    )  # fmt: skip


@contextmanager
def neighbour(name: str, core: int, cell: Cell) -> Iterator[None]:
    """Something is done on a core; a lab has its first trial behind it."""
    with tempfile.TemporaryDirectory(prefix="cellbed-bench.") as folder:
        out = Path(folder, "results")
        program = [sys.executable, "-c", NEIGHBOURS[name]]
        process = begin(core, cell.command(out, MANY) if name == LAB else program, folder)
        try:
            while name == LAB and process.poll() is None and not costs(out):
                time.sleep(POLL_S)
            yield
            if process.poll() is not None:
                raise SystemExit(f"{name}: it ended too early, status {process.returncode}")
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait()


def costs(out: Path) -> list[tuple[float, float]]:
    """Wall and processor time [s] of each trial that has ended in a folder of results."""
    log = out / events.NAME
    said = [event for _, event in events.read(log)] if log.exists() else []
    return [(event.wall_s, event.cpu_s) for event in said if isinstance(event, events.TrialEnded)]


def cost(name: str, cores: Sequence[int], cell: Cell) -> tuple[float, float]:
    """Wall and processor time [s] of a trial with a neighbour: medians."""
    with tempfile.TemporaryDirectory(prefix="cellbed-bench.") as folder:
        out = Path(folder, "results")
        with neighbour(name, cores[1], cell):
            if status := begin(cores[0], cell.command(out, TRIALS), folder).wait():
                raise SystemExit(f"{name}: the lab's command ended with status {status}")
        wall_s, cpu_s = zip(*costs(out)[1:], strict=True)
        return statistics.median(wall_s), statistics.median(cpu_s)


def main() -> None:
    typed = words(__doc__)
    turns = int(typed.pop(0)) if typed and typed[0].isdigit() else TURNS
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        raise SystemExit("this needs two cores")
    cell = Cell(typed)
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in NEIGHBOURS}
    for turn in range(turns):
        for name, of_name in found.items():
            of_name.append(cost(name, cores, cell))
        print(f"turn {turn + 1} of {turns}", file=sys.stderr)
    alone_s = statistics.median(wall_s for wall_s, _ in found["nothing"])
    print("| on the other core | wall s | CPU s | wall, of alone |\n| --- | --- | --- | --- |")
    for name, pairs in found.items():
        wall_s, cpu_s = (statistics.median(times) for times in zip(*pairs, strict=True))
        print(f"| {name} | {wall_s:.2f} | {cpu_s:.2f} | {wall_s / alone_s:.2f} |")


if __name__ == "__main__":
    main()
