# SPDX-License-Identifier: GPL-2.0-only
"""Fixtures for all: finished trials of the small experiment, from a real lab."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

from tests.small import run_trials, small_trials

pytest_plugins = ["tests.order", "tests.skips"]

# How long an example takes is the machine's business, not a test's.
settings.register_profile("cellbed", deadline=None)
settings.load_profile("cellbed")


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[dict]]:
    """Campaign folder and records of the four small cells, run two labs side by side."""
    folder = tmp_path_factory.mktemp("finished")
    trials = small_trials(folder)
    documents = run_trials(folder / "out", trials, jobs=2)
    return folder / "out", [documents[trial.name] for trial in trials]
