# SPDX-License-Identifier: GPL-2.0-only
"""Runs every lab: `python -m tests.course.renew` renews what is measured in the course's pages.

That is the table of costs in course/README.md, and the pictures of the solutions: plots of the
reports of the student of all examples.
"""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Iterator
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
PLACE = re.compile(r"(^## What a lab costs\n\n).*?(?=\n^## )", re.MULTILINE | re.DOTALL)
HEADINGS = (
    "| lab | trials | virtual time | processor time | to the end of `./cellbed run` |\n"
    "| --- | --- | --- | --- | --- |\n"
)
# Of each lab the level of its last factor, and the plot, that its solution shows.
SHOWN = {
    "1-slow-start": ("4000", "windows"),
    "2-losses": ("NewReno", "windows"),
    "3-cells": ("plain", "queue"),
    "4-fair-shares": ("EPD", "windows"),
    "5-satellite": ("NewReno", "windows"),
    "6-web": ("drop-tail", "queue"),
}


def row(name: str, found: Campaign, took_s: float) -> str:
    """A line of the table."""
    virtual_s, cpu_s = (
        sum(one.document[key] for one in found.trials) for key in ("virtual_s", "cpu_s")
    )
    figures = (f"{seconds:.0f} s" for seconds in (virtual_s, cpu_s, took_s))
    return f"| {name} | {len(found.trials)} | {' | '.join(figures)} |\n"


def picture(name: str, found: Campaign) -> str:
    """The plot that a lab's solution shows."""
    level, kind = SHOWN[name]
    trial = next(one for one in found.trials if list(one.factors.values())[-1] == level)
    plot = next(one for one in trial_plots.plots(trial) if one.name.endswith(kind))
    return stand_alone(plot.svg)


def lines() -> Iterator[str]:
    """Of each lab its line of the table; its picture is written."""
    for name in labs.names():
        with TemporaryDirectory(prefix="cellbed-course-") as folder:
            handout.start(name, Path(folder) / "mine", STUDENT)
            experiment = Experiment.from_file(Path(folder) / "mine" / handout.MINE)
            begin = time.monotonic()
            found = experiment.run(Path(folder) / "out").records
            yield row(name, found, time.monotonic() - begin)
            (SOLUTIONS / f"{name}.svg").write_text(picture(name, found), encoding="utf-8")


def renew() -> None:
    table = HEADINGS + "".join(lines())
    today = datetime.now(UTC)
    beside = f"{os.cpu_count()} cores with other work beside, a load of {os.getloadavg()[2]:.0f}"
    measured = (
        f"{table}\n{today.day} {today:%B %Y}, {beside}. Processor time is that of the labs; idle "
        "cores share it.\n"
    )
    text = README.read_text(encoding="utf-8")
    README.write_text(PLACE.sub(lambda found: found[1] + measured, text), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(renew())
