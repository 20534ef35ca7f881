# SPDX-License-Identifier: GPL-2.0-only
"""Where the processor time of a command goes, from its first line to its table.

    python -m tests.bench.cost.phases [TURNS] [EXPERIMENT FACTOR=LEVEL ...]

in the project's environment. `./cellbed run` of one trial in one `uml` lab; what the lab says to
the harness parts the time. Counted from outside, user and system: the command's own processes,
the lab's kernel, and the lab's other processes. Medians of TURNS (3) such commands.
"""

from __future__ import annotations

import ctypes
import json
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import astuple, dataclass, field
from pathlib import Path

from tests.bench.cost.profile import CELL, EXPERIMENT
from tests.bench.cost.run import AS_USUAL, NEW, PR_SET_CHILD_SUBREAPER, only, reap_orphans, used_s
from tests.bench.cost.words import words

POLL_S = 0.01
TICK_S = 1 / os.sysconf("SC_CLK_TCK")
BEGIN, TRAFFIC, END = "start of the command", "progress", "trial-end"


@dataclass
class Used:
    """Processor time [s] so far: of the harness, of the lab's kernel, of its other processes."""

    harness_s: float = 0.0
    kernel_s: float = 0.0
    processes_s: float = 0.0


@dataclass
class Command:
    """A command as it runs: what had been used when each part began."""

    folder: Path
    pid: int
    begun: dict[str, Used] = field(default_factory=lambda: {BEGIN: Used()})
    _lines: int = 0
    _last: Used = field(default_factory=Used)

    def look(self) -> None:
        """Follow what the lab says."""
        name = self._part()
        if name and (name not in self.begun or name == END):
            self._last = used(self.pid, self._last)
            self.begun.setdefault(name, self._last)

    def _part(self) -> str:
        """The part that is under way, when the lab has said more or has nothing more to say."""
        for events in self.folder.glob("cellbed-lab.*/events.jsonl"):
            lines = events.read_bytes().splitlines()
            said = json.loads(lines[-1]) if lines else {"event": ""}
            name = str(said.get("step") or said.get("phase") or said["event"])
            if len(lines) > self._lines or name == END:
                self._lines = len(lines)
                return name
        return ""

    def costs(self, total_s: float) -> dict[str, Used]:
        """What each part has used; `total_s`: of all processes when all was over."""
        last = self._last
        ended = Used(total_s - last.kernel_s - last.processes_s, last.kernel_s, last.processes_s)
        moments = [*self.begun.values(), ended]
        return {
            name: Used(*(b - a for a, b in zip(astuple(before), astuple(after), strict=True)))
            for name, before, after in zip(self.begun, moments[:-1], moments[1:], strict=True)
        }


def used(pid: int, last: Used) -> Used:
    """What a command's processes have used by now; of a lab that is gone, what was `last` seen."""
    found, lab, family = Used(), False, [(pid, False)]
    children: dict[int, list[int]] = {}
    ticks: dict[int, tuple[str, int, int]] = {}
    # Not glob(): it fails when a process ends while it looks.
    for stat in (Path("/proc", name, "stat") for name in os.listdir("/proc") if name.isdigit()):
        try:
            head, _, tail = stat.read_text().rpartition(")")
        except (FileNotFoundError, ProcessLookupError):
            continue
        words, one = tail.split(), int(stat.parent.name)
        children.setdefault(int(words[1]), []).append(one)
        own, ended = sum(map(int, words[11:13])), sum(map(int, words[13:15]))
        ticks[one] = (head.partition("(")[2], own, ended)
    for one, inside in family:
        name, own, ended = ticks.get(one, ("", 0, 0))
        if inside:
            found.processes_s += (own + ended) * TICK_S
        elif name == "linux":
            lab, found.kernel_s = True, own * TICK_S
            found.processes_s += ended * TICK_S
        else:
            # Of those that have ended too: what asks where things are.
            found.harness_s += (own + ended) * TICK_S
        family += [(child, inside or name == "linux") for child in children.get(one, [])]
    return found if lab else Used(found.harness_s, last.kernel_s, last.processes_s)


def run(file: str, cell: Sequence[str]) -> dict[str, Used]:
    """Run the command; what each of its parts used."""
    with tempfile.TemporaryDirectory(prefix="cellbed-bench.") as folder:
        argv = [str(NEW / "cellbed"), "run", file, *only(cell), "--seeds", "1", "--jobs", "1"]
        before = used_s()
        process = subprocess.Popen(
            [*argv, "--out", f"{folder}/results"],
            cwd=NEW,
            env={**os.environ, "TMPDIR": folder, **AS_USUAL},
            stdout=subprocess.DEVNULL,
        )
        command = Command(Path(folder), process.pid)
        while process.poll() is None:
            time.sleep(POLL_S)
            command.look()
        reap_orphans()
        if process.returncode:
            raise SystemExit(process.returncode)
        return command.costs(used_s() - before)


def show(turns: Sequence[dict[str, Used]]) -> None:
    """Print the medians as a table of Markdown."""
    print("| | harness | lab's kernel | lab's processes | all, CPU s |\n|" + " --- |" * 5)
    # A part that was over before the next look counts with the part before it: 0 in this turn.
    medians = {
        part: [
            statistics.median(astuple(turn.get(part, Used()))[n] for turn in turns)
            for n in range(3)
        ]
        for part in max(turns, key=len)
    }
    medians["the command"] = [sum(column) for column in zip(*medians.values(), strict=True)]
    for part, columns in medians.items():
        cells = " | ".join(f"{seconds:.2f}" for seconds in [*columns, sum(columns)])
        print(f"| {part} | {cells} |")


def main(turns: str = "3", file: str = EXPERIMENT, *cell: str) -> None:
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    show([run(file, cell or CELL) for _ in range(int(turns))])


if __name__ == "__main__":
    main(*words(__doc__))
