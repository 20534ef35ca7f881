# SPDX-License-Identifier: GPL-2.0-only
"""A large experiment in shards, by several workers, of which some are lost: what it costs.

    PYTHONPATH=. python -P -m tests.bench.cost.shards [OPTION ...]

in the project's environment; --help lists the options. A worker is a process that runs one shard,
with the tests' lab of paper in place of a lab: all but the lab is real. The program kills the
workers of some shards when they have written a few records, as if a node were lost, and runs these
shards again later. It then merges all shards. It fails if a record is missing, or if a record that
was there at a kill was made again.
"""

from __future__ import annotations

import argparse
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harness.campaign import costs
from harness.campaign.campaign import CampaignRun
from harness.campaign.merge import merge
from harness.design.shard import Shard
from harness.design.trials import PlannedTrial
from harness.labs import LABS
from harness.records import record
from harness.runners.options import Options
from tests.paper import PaperLab, finish
from tests.small import SMALL, trials_of

CELLS = 4  # of SMALL
KILLED_AT = 10  # records
EACH_S = 0.05


def trials(folder: Path, number: int) -> list[PlannedTrial]:
    """So many trials of a small experiment."""
    folder.mkdir(parents=True, exist_ok=True)
    return trials_of(folder, SMALL, seeds=number // CELLS)


def work(folder: Path, number: int, shard: Shard) -> None:
    """Run a shard in this process; say how many trials ran."""
    LABS["paper"] = PaperLab
    costs.file = lambda: folder / f"costs-{shard.number}.json"
    record.finish = finish
    planned = trials(folder / f"plan-{shard.number}", number)
    out = folder / "shards" / shard.folder
    CampaignRun(
        out, shard.of(planned), {"name": "small"}, Options(lab="paper"), every=planned
    ).run()
    print(len(PaperLab.tried))


def written(folder: Path, shard: Shard) -> set[tuple[str, int]]:
    """The finished records of a shard: names, and the file system's numbers."""
    found = (folder / "shards" / shard.folder).glob("trials/[!.]*")
    return {(path.name, path.stat().st_ino) for path in found}


@dataclass
class Pool:
    """Workers, at most so many at a time; `left` are the shards to run, `lose` those to kill."""

    folder: Path
    number: int
    most: int
    left: list[Shard]
    lose: set[int]
    running: dict[int, tuple[Shard, subprocess.Popen[str]]] = field(default_factory=dict)
    killed: dict[int, set[tuple[str, int]]] = field(default_factory=dict)
    ran: int = 0

    def run(self) -> None:
        """All shards to their end."""
        while self.left or self.running:
            while self.left and len(self.running) < self.most:
                self.start(self.left.pop(0))
            time.sleep(EACH_S)
            for shard, process in list(self.running.values()):
                self.look(shard, process)

    def start(self, shard: Shard) -> None:
        argv = [sys.executable, "-P", "-m", "tests.bench.cost.shards", "--trials", str(self.number),
                "--work", str(self.folder), f"{shard.number}/{shard.count}"]  # fmt: skip
        process = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, start_new_session=True)
        self.running[shard.number] = shard, process

    def look(self, shard: Shard, process: subprocess.Popen[str]) -> None:
        """Has it ended? Is it to be lost now?"""
        if process.poll() is None:
            if shard.number in self.lose and len(written(self.folder, shard)) >= KILLED_AT:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                self.lose.remove(shard.number)
                self.killed[shard.number] = written(self.folder, shard)
                del self.running[shard.number]
                self.left.append(shard)
            return
        assert process.stdout
        said = process.stdout.read()
        if process.returncode:
            sys.exit(f"shard {shard.number} ended with status {process.returncode}")
        self.ran += int(said)
        del self.running[shard.number]
        assert self.killed.get(shard.number, set()) <= written(self.folder, shard)


def measure(number: int, count: int, workers: int, lost: int) -> None:
    """Run, lose, run again, merge; print what it took."""
    shards = [Shard(number=i + 1, count=count) for i in range(count)]
    lose = {shard.number for shard in shards[:lost]}
    with tempfile.TemporaryDirectory(prefix="cellbed-shards.", dir="/var/tmp") as place:
        folder = Path(place)
        begin = time.monotonic()
        pool = Pool(folder, number, workers, shards, lose)
        pool.run()
        wall_s = time.monotonic() - begin
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu_s, mib = used.ru_utime + used.ru_stime, used.ru_maxrss / 1024
        print(f"{number} trials, {count} shards, {workers} workers at a time")
        print(f"{wall_s:.0f} s, {cpu_s:.0f} CPU s, at most {mib:.0f} MiB a worker")
        kept = sum(map(len, pool.killed.values()))
        print(f"{len(pool.killed)} workers killed; {kept} records before, {pool.ran} after")
        assert not pool.lose and pool.ran + kept == number
        merged(folder, number)


def merged(folder: Path, number: int) -> None:
    """Merge all shards."""
    begin, before = time.monotonic(), time.process_time()
    found = merge(folder / "all", sorted((folder / "shards").iterdir()))
    wall_s, cpu_s = time.monotonic() - begin, time.process_time() - before
    print(f"merge: {found.copied} records copied; {wall_s:.1f} s, {cpu_s:.1f} CPU s")
    assert found.copied == number and not found.missing and not found.refused


def main(words: Sequence[str]) -> None:
    """Measure; or, as a worker, run a shard."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.cost.shards")
    for name, usual in (("trials", 10_000), ("shards", 100), ("workers", 4), ("lost", 5)):
        parser.add_argument(f"--{name}", type=int, default=usual, metavar="N")
    parser.add_argument("--work", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args(words)
    if options.work:
        shard, count = map(int, options.work[1].split("/"))
        work(Path(options.work[0]), options.trials, Shard(number=shard, count=count))
    else:
        measure(options.trials, options.shards, options.workers, options.lost)


if __name__ == "__main__":
    main(sys.argv[1:])
