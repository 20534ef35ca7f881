# SPDX-License-Identifier: GPL-2.0-only
"""Runs labs: `python -m tests.course.renew [LAB...]` renews what is measured in the course's pages.

That is their lines of the table of costs in course/README.md, and the pictures of their solutions:
plots of the reports of the student of all examples.
"""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from analysis import read_campaign
from analysis.records import CampaignRecords
from analysis.report import trial_plots
from analysis.report.svg import stand_alone
from harness.course import handout
from harness.course import lab as labs
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


def line(name: str, found: CampaignRecords, cpu_s: float, took_s: float) -> str:
    """A line of the table."""
    virtual_s = sum(one.document["virtual_s"] for one in found.trials)
    figures = " | ".join(f"{seconds:.0f} s" for seconds in (virtual_s, cpu_s, took_s))
    today = datetime.now(UTC)
    when = f"{today.day} {today:%B %Y}, {os.cpu_count()} cores, load {os.getloadavg()[1]:.0f}"
    return f"| {name} | {len(found.trials)} | {figures} | {when} |\n"


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
        begin, before_s = time.monotonic(), children_s()
        command = [PROJECT / "cellbed", "run", mine / handout.MINE, "--out", out]
        subprocess.run(command, check=True)
        took_s, cpu_s = time.monotonic() - begin, children_s() - before_s
        found = read_campaign(out)
        (SOLUTIONS / f"{name}.svg").write_text(picture(name, found), encoding="utf-8")
        return line(name, found, cpu_s, took_s)


def children_s() -> float:
    """Processor time of all processes that this one has begun, and they, and that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def renew(names: Sequence[str]) -> None:
    new = {name: run(name) for name in names}
    text = README.read_text(encoding="utf-8")
    README.write_text(LINE.sub(lambda old: new.get(old[1], old[0]), text), encoding="utf-8")


if __name__ == "__main__":
    renew([labs.find(name) for name in sys.argv[1:]] or labs.names())
