# SPDX-License-Identifier: GPL-2.0-only
"""The picture of docs/watch.md shows a replay at a moment."""

from __future__ import annotations

import re
import struct
from pathlib import Path

import pytest
from playwright.sync_api import expect

from harness.watch.server import serving
from tests import replay
from tests.browser import opened
from tests.harness.watch.made import Made

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.mark.browser
def test_a_picture_has_the_whole_trial_at_its_moment(tmp_path: Path) -> None:
    picture = tmp_path / "replay.png"
    with serving(Made(tmp_path).folder) as server, opened(server.url, "desktop") as page:
        replay.play(page, 30)
        replay.shoot(page, picture)
        expect(page.locator("#now")).to_have_text("30.00 s")
        expect(page.locator("#plot-queue")).to_have_attribute("aria-label", re.compile(r"At 30\."))
        box = page.locator(replay.SHOWN).bounding_box()
    assert box is not None
    found = struct.unpack(">8s8x2I", picture.read_bytes()[:24])
    assert found == (PNG, round(box["width"]), pytest.approx(box["height"], abs=1))


def test_the_page_shows_the_picture() -> None:
    page = replay.PICTURE.with_name("watch.md").read_text(encoding="utf-8")
    assert f"({replay.PICTURE.name})" in page and f"{replay.AT_S} s" in page
    assert replay.PICTURE.read_bytes().startswith(PNG)
