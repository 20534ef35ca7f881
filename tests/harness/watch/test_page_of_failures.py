# SPDX-License-Identifier: GPL-2.0-only
"""The page of a campaign with a trial that failed, and of a folder without a campaign."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from harness.events import TrialFailed
from harness.watch.server import serving
from tests.browser import SIZES, assert_no_violation, opened
from tests.harness.watch.made import TRIALS, Made

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("size", SIZES)
def test_a_press_tells_why_a_trial_failed(size: str, tmp_path: Path) -> None:
    """Its first line; a phone has no pointer that rests on a button."""
    made = Made(tmp_path)
    reason = "the lab's kernel complained: WARNING\nStack:\n 604b5c03"
    made.say(TrialFailed(trial=TRIALS[1], attempt=2, reason=reason, retried=False))
    with serving(made.folder) as server, opened(server.url, size) as page:
        expect(page.locator("#progress")).to_contain_text("1 failed, 0 invalid")
        page.get_by_role("button", name="WAN SACK SD 0.5, seed 1: failed").click()
        expect(page.locator("#facts")).to_have_text(
            "The trial failed and left no record: the lab's kernel complained: WARNING. "
            "Give the same ./cellbed run again to run it."
        )
        expect(page.locator("#facts")).to_be_in_viewport()
        expect(page.get_by_role("columnheader", name="SD", exact=True)).to_be_visible()
        expect(page.locator("caption")).to_contain_text("the columns are the levels of policy")
        assert_no_violation(page)


@pytest.mark.parametrize("size", SIZES)
def test_a_folder_without_a_campaign_says_what_the_page_waits_for(
    size: str, tmp_path: Path
) -> None:
    with serving(tmp_path) as server, opened(server.url, size) as page:
        expect(page.locator("#progress")).to_have_text(
            "The page shows the trials as soon as ./cellbed run begins."
        )
        expect(page.locator("#matrix")).to_be_hidden()
        expect(page.locator("#bar")).to_be_hidden()
        assert_no_violation(page)
