# SPDX-License-Identifier: GPL-2.0-only
"""What a trial with a moving path costs, beside the same trial with a link that stays as it is.

    python -m tests.bench.cost.moving [--turns 5] [--seconds 10]

in the project's environment. The path changes nothing: both trials have the same packets at the
same moments. They run in turn. Each figure is the processor time
of two more trials in a lab that has run one: user and system time of all processes.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.bench.cost.run import NEW, TURNS, command, only

MORE = 2
LINKS = ("still", "moving")
QUEUES = {
    "cells": 'queue = { kind = "cells", policy = "epd", buffer_cells = 3000, threshold = 0.8 }',
    "drop-tail": 'queue = { kind = "drop-tail", limit_packets = 100 }',
}
EXPERIMENT = """
name = "cost"
title = "a path that changes nothing"
[factors]
link = ["still", "moving"]
[base]
{queue}
topology = {{ pairs = 5, rate_bit_per_s = 45_000_000, delay_us = 20_000, mss_bytes = 1460 }}
tcp = {{ flavor = "cubic-rack", window_bytes = 500_000, ssthresh_bytes = 1_000_000_000 }}
workload = {{ kind = "iperf", duration_s = {seconds} }}
[[rule]]
when.link = "still"
set.topology.path = "none"
[[rule]]
when.link = "moving"
set.topology.path = {{ kind = "csv", file = "path.csv", period_s = 1 }}
"""
PATH = "time_s,rate_bit_per_s,delay_us\n0,45000000,20000\n0.5,45000000,20000\n"


def cpu_s(file: Path, link: str) -> float:
    """The processor time of one trial in a lab that has run another one [s]."""
    words = ("run", str(file), *only([f"link={link}"]), "--jobs", "1", "--seeds")
    several, first = (command(NEW, *words, str(seeds)).cpu_s for seeds in (1 + MORE, 1))
    return (several - first) / MORE


def ratios(file: Path, turns: int) -> Iterator[tuple[float, float]]:
    """Yield the processor times of both links, turn by turn [s]."""
    for turn in range(turns):
        order = LINKS if turn % 2 else LINKS[::-1]
        found = {link: cpu_s(file, link) for link in order}
        yield found["still"], found["moving"]


def main() -> None:
    parser = argparse.ArgumentParser(description="a moving trial beside a still trial")
    parser.add_argument("--turns", type=int, default=TURNS)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--queue", choices=QUEUES)
    given = parser.parse_args()
    for queue in [given.queue] if given.queue else QUEUES:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "cost.toml")
            file.write_text(EXPERIMENT.format(queue=QUEUES[queue], seconds=given.seconds))
            Path(folder, "path.csv").write_text(PATH)
            found = []
            for still_s, moving_s in ratios(file, given.turns):
                print(f"{queue}: still {still_s:.2f}, moving {moving_s:.2f} CPU s", flush=True)
                found.append((still_s, moving_s))
        of_all = statistics.median(moving_s / still_s for still_s, moving_s in found)
        print(f"{queue}: median of the ratios {of_all:.3f}")


if __name__ == "__main__":
    main()
