# SPDX-License-Identifier: GPL-2.0-only
"""The same trial gives the same record, byte for byte, wherever and after whatever it runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from small import run_trials, small_trials

pytestmark = pytest.mark.lab


# What tells of the run and not of the trial, and the checksums, which have it in them.
OF_THE_RUN = {"run.json", "SHA256SUMS"}


def test_another_order_in_another_lab_changes_nothing(
    finished: tuple[Path, list[dict]], tmp_path: Path
) -> None:
    """`finished` ran two labs side by side; here one lab runs the same trials backwards."""
    folder, documents = finished
    run_trials(tmp_path / "out", small_trials(tmp_path)[::-1], jobs=1)
    for document in documents:
        ours, theirs = (f / "trials" / document["trial"] for f in (tmp_path / "out", folder))
        names = {path.name for path in theirs.iterdir()}
        assert {path.name for path in ours.iterdir()} == names and names > OF_THE_RUN
        for name in names - OF_THE_RUN:
            assert (ours / name).read_bytes() == (theirs / name).read_bytes(), ours / name
