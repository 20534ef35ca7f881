# SPDX-License-Identifier: GPL-2.0-only
"""The README's experiment: `python -m tests.readme` runs it and renews its result and its picture.

tests/test_readme.py runs it too, and compares.
"""

from __future__ import annotations

import io
import re
import sys
import tempfile
from pathlib import Path

from rich.console import Console

from analysis import read_campaign
from analysis.report import trial_plots
from analysis.report.svg import stand_alone
from harness.campaign.campaign import CampaignRun
from harness.cli.result_table import print_results
from harness.design import experiment
from harness.design.trials import planned
from harness.runners.options import Options
from tests.small import PROJECT

README = PROJECT / "README.md"
PICTURE = PROJECT / "docs" / "front.svg"
SHOWN = ("plain", "1000", "windows")  # levels of the trial, and which of its plots
EXPERIMENT = re.compile(r"^```toml\n(.*?)^```$", re.MULTILINE | re.DOTALL)
RESULT = re.compile(r"(prints\n\n```\n)(.*?)(^```$)", re.MULTILINE | re.DOTALL)


def run(folder: Path) -> str:
    """Run it; the table that is printed. Records are in folder/out."""
    found = EXPERIMENT.search(README.read_text(encoding="utf-8"))
    assert found, "no experiment in the README"
    path = folder / "buffers.toml"
    path.write_text(found[1])
    trials = planned(experiment.load(path), path, (), None)
    campaign = CampaignRun(folder / "out", trials, {"name": "buffers", "title": ""}, Options())
    documents = campaign.run()
    assert not campaign.failures, campaign.failures
    text = io.StringIO()
    print_results([documents[trial.name] for trial in trials], Console(file=text, width=100))
    return "".join(f"{line.rstrip()}\n" for line in text.getvalue().splitlines())


def picture(campaign: Path) -> str:
    """A plot of the report, as a file of its own."""
    policy, buffer, kind = SHOWN
    trial = next(
        trial
        for trial in read_campaign(campaign).trials
        if (trial.factors["queue.policy"], trial.factors["queue.buffer_cells"]) == (policy, buffer)
    )
    plot = next(p for p in trial_plots.plots(trial) if p.name.endswith(kind))
    return stand_alone(plot.svg)


def renew() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        result = run(folder)
        text = README.read_text(encoding="utf-8")
        README.write_text(RESULT.sub(lambda m: m[1] + result + m[3], text), encoding="utf-8")
        PICTURE.write_text(picture(folder / "out"), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(renew())
