# SPDX-License-Identifier: GPL-2.0-only
"""A page whose run was interrupted, and a page whose server has gone."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from harness.events import CampaignInterrupted, TrialStarted
from harness.watch.server import serving
from tests.browser import SIZES, assert_no_violation, opened
from tests.harness.watch.lab import Lab
from tests.harness.watch.made import TRIALS, Made
from tests.small import PROJECT

pytestmark = pytest.mark.browser

NAME = TRIALS[1]


@pytest.fixture
def made(tmp_path: Path) -> Made:
    return Made(tmp_path)


@pytest.fixture
def lab(tmp_path: Path, made: Made) -> Lab:
    lab = Lab(tmp_path, NAME)
    made.say(TrialStarted(trial=NAME, lab=str(lab.folder), waits=True))
    for number in (1, 2, 3):
        lab.second(number)
    return lab


@contextmanager
def served(made: Made) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """./cellbed watch in a process of its own, and the page's address."""
    argv = [sys.executable, "-m", "harness", "watch", made.folder.name]
    environment = {**os.environ, "PYTHONPATH": str(PROJECT)}
    with subprocess.Popen(
        argv, cwd=made.folder.parent, stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdout
        yield process, process.stdout.readline().split()[1]
        process.kill()


@pytest.mark.parametrize("size", SIZES)
def test_without_its_server_the_page_says_so_and_plays_what_it_has(
    size: str, made: Made, lab: Lab, tmp_path: Path
) -> None:
    refused = "Failed to load resource"  # the browser's own words
    with served(made) as (process, url), opened(url, size, expected=refused) as page:
        now, standing = page.locator("#now"), page.locator("#standing")
        expect(now).to_have_text("3.00 s")
        process.kill()
        said = "The command that served this page has ended. ./cellbed watch campaign shows"
        expect(standing).to_contain_text(said)
        expect(standing).to_be_in_viewport()
        expect(page.locator("#offline")).to_contain_text(said)
        expect(page.locator("#live")).to_have_text("not finished")
        running = page.locator(f'[id="trial-{NAME}"]')
        expect(running).to_have_text("not finished")
        recorded = page.locator(f'[id="trial-{TRIALS[0]}"]')
        expect(recorded).to_have_attribute("aria-disabled", "true")  # its record is not loaded
        what_is_loaded_plays(page)
        assert_no_violation(page)
        page.screenshot(path=tmp_path / "gone.png", full_page=True)


def what_is_loaded_plays(page: Page) -> None:
    now = page.locator("#now")
    page.get_by_label("Virtual time").fill("1")
    expect(now).to_have_text("1.00 s")
    page.get_by_role("button", name="Step").click()
    expect(now).to_have_text("1.05 s")
    page.get_by_label("Speed").select_option("20 ×")
    page.get_by_role("button", name="Play").click()
    expect(now).to_have_text("3.00 s")
    expect(page.get_by_role("button", name="Play")).to_be_visible()


@pytest.mark.parametrize("size", SIZES)
def test_an_interrupted_run_promises_no_record(size: str, made: Made, lab: Lab) -> None:
    with serving(made.folder) as server, opened(server.url, size) as page:
        expect(page.locator("#now")).to_have_text("3.00 s")
        made.say(CampaignInterrupted(reason="KeyboardInterrupt"))
        lab.folder.rename(lab.folder.with_name("gone"))
        expect(page.locator("#live")).to_have_text("not finished")
        expect(page.locator("#standing")).to_have_text(
            "The run ended before this trial did. Give the same ./cellbed run again to run it."
        )
        expect(page.locator("#progress")).to_contain_text("; interrupted")
        expect(page.locator("#progress")).not_to_contain_text("KeyboardInterrupt")
        expect(page.locator(f'[id="trial-{NAME}"]')).to_have_text("not finished")
        what_is_loaded_plays(page)
        page.locator(f'[id="trial-{TRIALS[0]}"]').click()
        expect(page.locator("#facts")).to_contain_text("1 checks ok")
        expect(page.locator("#standing")).to_contain_text("This is the end of the trial.")
