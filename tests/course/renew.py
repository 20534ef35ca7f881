# SPDX-License-Identifier: GPL-2.0-only
"""Runs labs: `python -m tests.course.renew [LAB...]` renews what is measured in the course's pages.

That is their lines of the table of costs in course/README.md, and the pictures of their solutions:
plots of the reports of the student of all examples.
"""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from analysis import read_campaign
from analysis.records import CampaignRecords
from analysis.report import trial_plots
from analysis.report.svg import stand_alone
from harness.course import handout
from harness.course import lab as labs
from tests.bench.cost import run as bench
from tests.small import PROJECT

STUDENT = "Ada Lovelace"
README = labs.FOLDER / "README.md"
SOLUTIONS = labs.FOLDER / "solutions"
LINE = re.compile(r"^\| (\d-[\w-]+) \|.*\n", re.MULTILINE)
# Of each lab the level of its last factor, and the plot, that its solution shows.
SHOWN = {
    "1-slow-start": ("4000", "windows"),
    "2-losses": ("NewReno", "windows"),
    "3-cells": ("plain", "queue"),
    "4-fair-shares": ("EPD", "windows"),
    "5-satellite": ("NewReno", "windows"),
    "6-web": ("drop-tail", "queue"),
}


@dataclass(frozen=True, kw_only=True)
class Cost:
    """Of a lab: processor time and time until it has ended [s], the most memory [MiB]."""

    cpu_s: float
    took_s: float
    memory_mib: float


def line(name: str, found: CampaignRecords, cost: Cost) -> str:
    """A line of the table."""
    virtual_s = sum(one.document["virtual_s"] for one in found.trials)
    figures = " | ".join(f"{seconds:.0f} s" for seconds in (virtual_s, cost.cpu_s, cost.took_s))
    today = datetime.now(UTC)
    when = f"{today.day} {today:%B %Y}, {os.cpu_count()} cores, load {os.getloadavg()[1]:.0f}"
    return f"| {name} | {len(found.trials)} | {figures} | {cost.memory_mib:.0f} MiB | {when} |\n"


def picture(name: str, found: CampaignRecords) -> str:
    """The plot that a lab's solution shows: the same bytes as long as its figures are the same."""
    level, kind = SHOWN[name]
    trial = next(one for one in found.trials if list(one.factors.values())[-1] == level)
    # The names of a plot's parts come from the trial's, and that from all of the code.
    named = trial_plots.plots(replace(trial, name=name))
    plot = next(one for one in named if one.name.endswith(kind))
    return stand_alone(plot.svg)


def run(name: str) -> str:
    """A lab's line of the table; its picture is written."""
    with TemporaryDirectory(prefix="cellbed-course-") as folder:
        mine, out = Path(folder, "mine"), Path(folder, "out")
        handout.start(name, mine, STUDENT)
        cost = measured([PROJECT / "cellbed", "run", mine / handout.MINE, "--out", out])
        found = read_campaign(out)
        (SOLUTIONS / f"{name}.svg").write_text(picture(name, found), encoding="utf-8")
        return line(name, found, cost)


def measured(command: Sequence[str | Path]) -> Cost:
    """Run a command in one lab at a time, as students on a server do."""
    begin, before_s = time.monotonic(), bench.used_s()
    with TemporaryDirectory(prefix="cellbed-course-") as folder:
        process = subprocess.Popen([*command, "--jobs", "1"])
        _, memory_mib = bench.watch(process, Path(folder))
    took_s = time.monotonic() - begin
    bench.reap_orphans()
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return Cost(cpu_s=bench.used_s() - before_s, took_s=took_s, memory_mib=memory_mib)


def renew(names: Sequence[str]) -> None:
    # Processes whose own parents have ended are then this one's, and their time is counted.
    ctypes.CDLL(None).prctl(bench.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    new = {name: run(name) for name in names}
    text = README.read_text(encoding="utf-8")
    README.write_text(LINE.sub(lambda old: new.get(old[1], old[0]), text), encoding="utf-8")


if __name__ == "__main__":
    renew([labs.find(name) for name in sys.argv[1:]] or labs.names())
