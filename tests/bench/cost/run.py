# SPDX-License-Identifier: GPL-2.0-only
"""What a run costs, beside what it cost in an older tree: each figure a ratio of the two.

    python -m tests.bench.cost.run OLD_TREE [--quick] [--turns N] [ROW ...]

OLD_TREE is a clone of the project at the older commit, set up (`./cellbed setup` in it). The two
trees run the same command in turn, one after the other, so that a machine that others use slows
both; medians of N such turns (five; `--quick`: one), printed after each. Everything is counted
from outside, by the command line that both trees have: processor time, user and system, of all
processes that the command began; the most memory that they had together. Without ROWs, all but
`cells`, which takes half an hour a tree. `wan`, `geo`, `start` and `memory` share two runs a tree
and turn; each of the others has two more.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

NEW = Path(__file__).resolve().parents[3]
# The experiment, by its place in this tree and in older ones.
PLACES = ("studies/ubrplus_1998/ubrplus-www.toml", "experiments/ubrplus-www.toml")
POLL_S = 0.02
MEMORY_POLL_S = 0.1
PR_SET_CHILD_SUBREAPER = 36
TURNS = 5
# Who forbids it compiles all of Python's modules anew for each command.
AS_USUAL = {"PYTHONDONTWRITEBYTECODE": ""}


@dataclass(frozen=True)
class Cost:
    """Of one command: processor and wall time [s], time to the traffic's first second [s], most
    memory [MiB]."""

    cpu_s: float
    wall_s: float
    first_second_s: float
    memory_mib: float


@dataclass(frozen=True)
class Row:
    """A line of the table: what is measured of a tree, in which unit."""

    what: str
    unit: str
    measure: Callable[[Path], float]


def experiment(tree: Path) -> str:
    """The experiment file of a tree."""
    return next(place for place in PLACES if (tree / place).exists())


def only(levels: Sequence[str]) -> list[str]:
    """Levels, FACTOR=LEVEL each, as a command has them."""
    return [word for level in levels for word in ("--only", level)]


@cache
def trial(tree: Path, network: str, flavor: str, seeds: int = 1) -> Cost:
    """Run one cell, EPD and a buffer of one RTT, in one lab; rows of one turn share a run."""
    cell = (f"network={network}", f"flavor={flavor}", "policy=EPD", "buffer=1")
    return command(tree, "run", experiment(tree), *only(cell), "--seeds", str(seeds), "--jobs", "1")


def alone(network: str, flavor: str) -> Callable[[Path], float]:
    """The processor time of one more trial in a lab that has run one."""

    def measure(tree: Path) -> float:
        return trial(tree, network, flavor, 2).cpu_s - trial(tree, network, flavor).cpu_s

    return measure


ROWS = {
    "wan": Row("one WAN trial, command to table (SACK, EPD, 1 RTT)", "CPU s",
               lambda tree: trial(tree, "WAN", "SACK").cpu_s),
    "geo": Row("one GEO trial, command to table", "CPU s",
               lambda tree: trial(tree, "GEO", "SACK").cpu_s),
    "wan-sack": Row("WAN trial alone, SACK", "CPU s", alone("WAN", "SACK")),
    "wan-newreno": Row("WAN trial alone, NewReno", "CPU s", alone("WAN", "NewReno")),
    "wan-vanilla": Row("WAN trial alone, Vanilla", "CPU s", alone("WAN", "Vanilla")),
    "geo-alone": Row("GEO trial alone", "CPU s", alone("GEO", "SACK")),
    "start": Row("command to the first virtual second, 100 pairs", "s",
                 lambda tree: trial(tree, "GEO", "SACK").first_second_s),
    "flavors": Row("`./cellbed flavors check`", "s",
                   lambda tree: command(tree, "flavors", "check").wall_s),
    "memory": Row("memory of a run of one lab", "MiB",
                  lambda tree: trial(tree, "WAN", "SACK").memory_mib),
    "cells": Row("72 cells, one seed, all cores", "s",
                 lambda tree: command(tree, "run", experiment(tree), "--seeds", "1").wall_s),
}  # fmt: skip


def command(tree: Path, *words: str) -> Cost:
    """Run a command of a tree with a temporary directory of its own; what it cost."""
    with tempfile.TemporaryDirectory(prefix="cellbed-bench.") as folder:
        log = Path(folder, "log")
        argv = [str(tree / "cellbed"), *words]
        if words[0] == "run":
            argv += ["--out", f"{folder}/results"]
        before, begin = used_s(), time.monotonic()
        with log.open("wb") as said:
            process = subprocess.Popen(
                argv, cwd=tree, stdout=said, stderr=said,
                env={**os.environ, "TMPDIR": folder, **AS_USUAL}, start_new_session=True,
            )  # fmt: skip
            first_s, memory_mib = watch(process, Path(folder))
        wall_s = time.monotonic() - begin
        reap_orphans()
        if process.returncode != 0:
            raise SystemExit(f"{' '.join(argv)}: status {process.returncode}\n{log.read_text()}")
        return Cost(used_s() - before, wall_s, first_s - begin, memory_mib)


def watch(process: subprocess.Popen[bytes], folder: Path) -> tuple[float, float]:
    """Wait for its end: when the first virtual second was over, and the most memory [MiB]."""
    first_s, most_kib, looked_s = float("nan"), 0, 0.0
    while process.poll() is None:
        time.sleep(POLL_S)
        now = time.monotonic()
        if first_s != first_s and any(begun(folder)):
            first_s = now
        if now > looked_s + MEMORY_POLL_S:
            most_kib, looked_s = max(most_kib, sum(map(resident_kib, family(os.getpid())))), now
    return first_s, most_kib / 1024


def begun(folder: Path) -> Iterator[bool]:
    """Of each lab: has its traffic begun?"""
    for events in folder.glob("cellbed-lab.*/events.jsonl"):
        yield b'"progress"' in events.read_bytes()


def family(pid: int) -> list[int]:
    """All that descend from a process, but for itself."""
    children: dict[int, list[int]] = {}
    # Not glob(): it fails when a process ends while it looks.
    for stat in (Path("/proc", name, "stat") for name in os.listdir("/proc") if name.isdigit()):
        try:
            parent = int(stat.read_text().rpartition(")")[2].split()[1])
        except (FileNotFoundError, ProcessLookupError):
            continue
        children.setdefault(parent, []).append(int(stat.parent.name))
    found = list(children.get(pid, []))
    for one in found:
        found += children.get(one, [])
    return found


def resident_kib(pid: int) -> int:
    """A process's memory; of what it shares with others its share."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)


def used_s() -> float:
    """Processor time of all that were begun here and have ended."""
    times = os.times()
    return times.children_user + times.children_system


def reap_orphans() -> None:
    """Wait for those whose own parents have gone: their time then counts as ours."""
    while True:
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def measured(rows: Sequence[Row], trees: Sequence[Path], turns: int) -> Iterator[list[list[float]]]:
    """Turn by turn, of each row the figure of each tree, the trees one after the other."""
    for _ in range(turns):
        trial.cache_clear()
        yield [[row.measure(tree) for tree in trees] for row in rows]


def line(row: Row, pairs: Sequence[Sequence[float]]) -> str:
    """A row of the table: medians of both trees, and of the ratio of a pair."""
    old, new = map(statistics.median, zip(*pairs, strict=True))
    ratio = statistics.median(new / old for old, new in pairs)
    return f"| {row.what} | {row.unit} | {old:.1f} | {new:.1f} | {ratio:.2f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("old", type=Path, help="the older tree, set up")
    parser.add_argument("rows", nargs="*", metavar="ROW", help=", ".join(ROWS))
    parser.add_argument("--turns", type=int, default=TURNS, help=f"pairs of runs [{TURNS}]")
    parser.add_argument("--quick", action="store_const", dest="turns", const=1, help="one")
    given = parser.parse_intermixed_args()
    if unknown := set(given.rows) - set(ROWS):
        parser.error(f"{', '.join(unknown)}: no such row; there are {', '.join(ROWS)}")
    if not (given.old / "cellbed").exists():
        parser.error(f"{given.old}: no tree of the project")
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    rows = [ROWS[name] for name in given.rows or ROWS if given.rows or name != "cells"]
    pairs: list[list[list[float]]] = [[] for _ in rows]
    for turn in measured(rows, [given.old.resolve(), NEW], given.turns):
        for of_row, pair in zip(pairs, turn, strict=True):
            of_row.append(pair)
        print("| what | unit | old | new | new / old |\n| --- | --- | --- | --- | --- |")
        print(*map(line, rows, pairs), sep="\n", end=f"\n\n{len(pairs[0])} turns\n\n", flush=True)


if __name__ == "__main__":
    main()
