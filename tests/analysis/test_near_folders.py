# SPDX-License-Identifier: GPL-2.0-only
"""A folder of results that does not exist: which folder is named in its place."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from analysis.campaign_file import NAME, why_none


@pytest.mark.parametrize(
    ("named", "ends"),
    [
        ("results/bufers", "; did you mean results/buffers?"),
        ("bufers", "; did you mean results/buffers?"),
        ("elsewhere/smal", "; did you mean elsewhere/small?"),
        ("results/my experimnt", "; did you mean 'results/my experiment'?"),
        ("nowhere", ", for example results/buffers"),
    ],
)
def test_a_folder_that_does_not_exist(
    named: str, ends: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    there = ("results/my experiment", "elsewhere/small", "results/buffers")
    for when, folder in enumerate(there):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / NAME).touch()
        os.utime(tmp_path / folder / NAME, (when, when))
    Path("results", "no campaign").mkdir()
    said = f"{named} does not exist; name a folder that ./cellbed run has made"
    assert why_none(Path(named)) == said + ends


def test_without_any_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert why_none(Path("nowhere")).endswith("a folder that ./cellbed run has made")
