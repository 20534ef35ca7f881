# SPDX-License-Identifier: GPL-2.0-only
"""A folder that is being filled is safe from `./cellbed clean`; one that was left is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.host import paths
from harness.host.whole import whole
from harness.machine import clean

A = "0123456789abcdef"


@pytest.mark.parametrize("name", ["recipe", "tests"])
def test_what_is_being_filled_stays_and_what_was_left_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(paths, "places", lambda: {"cache": tmp_path})
    place = tmp_path / "kernels" / f"{name}-{A}"
    place.parent.mkdir()
    with whole(place) as first, whole(place) as second:
        clean.remove_partials()
        assert first.is_dir() and second.is_dir()
    assert place.is_dir() and not first.exists() and not second.exists()
    first.mkdir()
    assert clean.remove_partials().removed == [str(first)]
