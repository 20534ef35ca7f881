# SPDX-License-Identifier: GPL-2.0-only
"""The pictures of the study of handovers are those of its kept trials."""

from __future__ import annotations

from studies.leo.pictures import FOLDER, pictures


def test_the_page_shows_the_kept_trials() -> None:
    drawn = dict(pictures())
    assert len(drawn) == 5
    for path, svg in drawn.items():
        assert path.read_text(encoding="utf-8") == svg, f"{path}: python -m studies.leo.pictures"


def test_each_kept_picture_is_shown() -> None:
    assert {path for path, _ in pictures()} == set(FOLDER.glob("results/*/*.svg"))
