# SPDX-License-Identifier: GPL-2.0-only
"""Runs labs: `python -m tests.course.renew [LAB...]` renews what is measured in the course's pages.

That is their lines of the table of costs in course/README.md, and the pictures of their solutions:
plots of the reports of the student of all examples.
"""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from analysis.records import Campaign
from analysis.report import trial_plots
from analysis.report.svg import stand_alone
from harness.api.experiment import Experiment
from harness.course import handout
from harness.course import lab as labs

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


def line(name: str, found: Campaign, took_s: float) -> str:
    """A line of the table."""
    virtual_s, cpu_s = (
        sum(one.document[key] for one in found.trials) for key in ("virtual_s", "cpu_s")
    )
    figures = " | ".join(f"{seconds:.0f} s" for seconds in (virtual_s, cpu_s, took_s))
    today = datetime.now(UTC)
    when = f"{today.day} {today:%B %Y}, {os.cpu_count()} cores, load {os.getloadavg()[1]:.0f}"
    return f"| {name} | {len(found.trials)} | {figures} | {when} |\n"


def picture(name: str, found: Campaign) -> str:
    """The plot that a lab's solution shows."""
    level, kind = SHOWN[name]
    trial = next(one for one in found.trials if list(one.factors.values())[-1] == level)
    plot = next(one for one in trial_plots.plots(trial) if one.name.endswith(kind))
    return stand_alone(plot.svg)


def run(name: str) -> str:
    """A lab's line of the table; its picture is written."""
    with TemporaryDirectory(prefix="cellbed-course-") as folder:
        handout.start(name, Path(folder) / "mine", STUDENT)
        experiment = Experiment.from_file(Path(folder) / "mine" / handout.MINE)
        begin = time.monotonic()
        found = experiment.run(Path(folder) / "out").records
        took_s = time.monotonic() - begin
        (SOLUTIONS / f"{name}.svg").write_text(picture(name, found), encoding="utf-8")
        return line(name, found, took_s)


def renew(names: Sequence[str]) -> None:
    new = {name: run(name) for name in names}
    text = README.read_text(encoding="utf-8")
    README.write_text(LINE.sub(lambda old: new.get(old[1], old[0]), text), encoding="utf-8")


if __name__ == "__main__":
    renew([labs.find(name) for name in sys.argv[1:]] or labs.names())
