# SPDX-License-Identifier: GPL-2.0-only
"""What --dry-run says of the time to come, and from where it has it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from harness.campaign import costs
from harness.campaign.campaign import CampaignRun
from harness.cli.commands.run import time_for
from harness.design.trials import PlannedTrial
from harness.runners.options import Options
from plan.plan import to_json
from tests.read_only import read_only
from tests.small import PROJECT, small_trials

DURATION_S = 12.0


@pytest.fixture(autouse=True)
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(costs, "file", lambda: tmp_path / "cache" / "costs.json")
    (tmp_path / "cache").mkdir()
    return tmp_path / "cache" / "costs.json"


def record(trial: PlannedTrial, wall_s: float) -> dict[str, Any]:
    return {"plan": to_json(trial.plan), "wall_s": wall_s}


def of(trials: list[PlannedTrial], network: str) -> list[PlannedTrial]:
    return [trial for trial in trials if trial.factors["network"] == network]


def test_nothing_is_known_at_first(tmp_path: Path) -> None:
    trials = small_trials(tmp_path)
    assert costs.estimate(trials, [], "uml", "virtual") == (0.0, 4)


def test_records_of_the_folder_count_by_their_network(tmp_path: Path) -> None:
    trials = small_trials(tmp_path)
    wan, geo = of(trials, "WAN"), of(trials, "GEO")
    records = [record(wan[0], 6.0), record(wan[1], 12.0)]
    assert costs.estimate(trials, records, "uml", "virtual") == (18.0, 2)
    records.append(record(geo[0], 3.0))
    assert costs.estimate(trials, records, "uml", "virtual") == (24.0, 0)


def test_what_trials_cost_before_counts_for_the_same_lab_and_clock(tmp_path: Path) -> None:
    trials = of(small_trials(tmp_path), "WAN")
    costs.note("uml", "virtual", trials[0], 24.0)
    assert costs.estimate(trials, [], "uml", "virtual") == (48.0, 0)
    assert costs.estimate(trials, [], "uml", "real") == (0.0, 2)
    assert costs.estimate(trials, [], "vm", "virtual") == (0.0, 2)
    here = [record(trials[0], 6.0)]
    assert costs.estimate(trials, here, "uml", "virtual") == (12.0, 0)


def test_a_new_cost_moves_the_known_one(tmp_path: Path, file: Path) -> None:
    trial = small_trials(tmp_path)[0]
    for wall_s in (12.0, 24.0):
        costs.note("uml", "virtual", trial, wall_s)
    (known,) = json.loads(file.read_text()).values()
    assert known == pytest.approx(1 + costs.WEIGHT)


@pytest.mark.parametrize("content", ["{", "[]", None])
def test_a_broken_or_missing_cache_is_no_error(
    tmp_path: Path, file: Path, content: str | None
) -> None:
    trial = small_trials(tmp_path)[0]
    if content is None:
        file.parent.rmdir()
    else:
        file.write_text(content)
    assert costs.read() == {}
    costs.note("uml", "virtual", trial, 12.0)
    assert bool(costs.read()) == (content is not None)


def said(folder: Path, trials: list[PlannedTrial], **options: Any) -> str:
    campaign = CampaignRun(folder, trials, {}, Options(**options))
    return time_for(campaign, trials)


NOTE = """
import sys
from pathlib import Path
from harness.campaign import costs
from tests.small import small_trials
costs.file = lambda: Path(sys.argv[1], "costs.json")
costs.note("uml", "virtual", small_trials(Path(sys.argv[2]))[0], 1.0)
"""


def test_a_read_only_cache_is_no_error(tmp_path: Path, file: Path) -> None:
    """There, removing what does not exist is an error of its own."""
    argv = [sys.executable, "-c", NOTE, str(file.parent), str(tmp_path)]
    done = subprocess.run(
        [*read_only(file.parent), *argv], cwd=PROJECT, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(PROJECT)}, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert not list(file.parent.iterdir())


def test_what_the_dry_run_says(tmp_path: Path) -> None:
    trials = small_trials(tmp_path)
    assert said(tmp_path, trials) == "; the time is unknown: no trial like them has run here"
    costs.note("uml", "virtual", of(trials, "WAN")[0], 24.0)
    others = "; no trial like 2 of them has run here"
    assert said(tmp_path, trials, jobs=2) == "; about 24 s with 2 labs" + others
    assert said(tmp_path, of(trials, "WAN"), jobs=8) == "; about 24 s with 2 labs"
    assert said(tmp_path, of(trials, "WAN"), jobs=1) == "; about 48 s with 1 lab"
    assert said(tmp_path, []) == ""
