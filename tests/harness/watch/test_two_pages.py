# SPDX-License-Identifier: GPL-2.0-only
"""A trial that runs, in a browser, while another page holds its lab."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from harness.events import TrialStarted
from harness.watch.server import serving
from tests.browser import SIZES, assert_no_violation, opened
from tests.harness.watch.lab import Lab
from tests.harness.watch.made import TRIALS, Made
from tests.harness.watch.test_live import looking, post, told

pytestmark = pytest.mark.browser

NAME = TRIALS[1]


@pytest.mark.parametrize("size", SIZES)
def test_the_page_says_that_another_page_holds_the_trial(size: str, tmp_path: Path) -> None:
    made, lab = Made(tmp_path), Lab(tmp_path, NAME)
    made.say(TrialStarted(trial=NAME, lab=str(lab.folder), waits=True))
    lab.second(1)
    with serving(made.folder) as server, opened(server.url, size) as page:
        standing = page.locator("#standing")
        pause, step = page.get_by_role("button", name="Pause", exact=True), page.locator("#step")
        expect(page.locator("#now")).to_have_text("1.00 s")
        expect(pause).to_be_visible()
        with looking(server, "other") as other:
            assert told(other)
            assert post(server, "1", "other") == 200
            expect(standing).to_have_text("Another page holds this trial.")
            expect(standing).to_be_in_viewport()
            expect(pause).to_be_hidden()
            expect(page.get_by_role("button", name="Pause here, too")).to_be_visible()
            expect(step).to_be_disabled()
            assert_no_violation(page)
            page.screenshot(path=tmp_path / "held.png", full_page=True)
        expect(standing).to_be_empty()  # that page was closed
        expect(pause).to_be_visible()
        expect(step).to_be_enabled()
