# SPDX-License-Identifier: GPL-2.0-only
"""The page of a campaign, with a recorded trial, in a real browser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from harness.events import TrialProgress, TrialStarted
from harness.watch.server import serving
from tests.browser import SIZES, assert_no_violation, opened
from tests.harness.watch.made import TRIALS, Made

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return Made(tmp_path_factory.mktemp("page"))


@pytest.fixture(scope="module", params=SIZES)
def page(made: Made, request: pytest.FixtureRequest) -> Iterator[Page]:
    with serving(made.folder) as server, opened(server.url, request.param) as found:
        yield found


def test_the_page(page: Page, made: Made, tmp_path: Path) -> None:
    expect(page.get_by_role("status")).to_contain_text(
        "1 of 2 trials has a record; 0 failed, 0 invalid"
    )
    first = page.get_by_role("button", name="WAN SACK EPD 0.5, seed 1: valid")
    made.say(TrialStarted(trial=TRIALS[1]))
    made.say(TrialProgress(trial=TRIALS[1], virtual_s=41))
    running = page.get_by_role("button", name="WAN SACK SD 0.5, seed 1: running 41 s")
    expect(running).to_have_attribute("aria-disabled", "true")
    assert_no_violation(page)
    first.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name=TRIALS[0])).to_be_focused()
    now, slider = page.locator("#now"), page.get_by_label("Virtual time")
    expect(now).to_have_text("100.00 s")
    at_the_end_step_begins_again(page)
    slider.fill("30")
    expect(now).to_have_text("30.00 s")
    page.get_by_role("button", name="Step").click()
    expect(now).to_have_text("30.05 s")
    time_s, length = last_drawn(page)
    assert (round(time_s * 1e9), length) in recorded(made) and 30 <= time_s <= 30.05
    label = f"At 30.05 s: {length} cells in the queue"
    expect(page.locator("#plot-queue")).to_have_attribute("aria-label", label)
    pairs = re.compile(r"At 30\.05 s: .* to 100 pairs")
    expect(page.locator("#plot-pairs")).to_have_attribute("aria-label", pairs)
    page.get_by_role("button", name="Play").click()
    expect(now).not_to_have_text("30.05 s")
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_role("button", name="Play")).to_be_visible()
    stopped = now.text_content()
    page.wait_for_timeout(500)
    assert now.text_content() == stopped
    assert 0 <= float(slider.input_value()) - last_drawn(page)[0] <= 0.06
    assert_no_violation(page)
    page.screenshot(path=tmp_path / "page.png", full_page=True)
    caption = page.locator("#caption-queue")
    expect(caption).to_have_text("Queue and dropped frames")
    page.evaluate("trial.sampled.drops = false; drawn = ''; prepare(trial)")
    expect(caption).to_have_text("Queue")
    expect(page.locator("#missing")).to_contain_text("the key record.drops records them.")
    page.evaluate("trial.drops_recordable = false; drawn = ''; prepare(trial)")
    expect(page.locator("#missing")).to_be_empty()  # the key would be refused
    assert_the_last_seconds_are_in_view(page)
    assert_no_room_for_what_is_missing(page)


def test_an_address_that_was_cut_in_a_character_leaves_the_page_whole(page: Page) -> None:
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.evaluate("location.hash = '#%E0%A4%A'")
    expect(page.locator("#facts")).to_contain_text("The campaign has no trial of this name")
    first = page.get_by_role("button", name="WAN SACK EPD 0.5, seed 1: valid")
    first.click()
    expect(page.get_by_role("heading", name=TRIALS[0])).to_be_visible()
    expect(page.locator("#now")).to_have_text("100.00 s")  # the trial is there for the next test
    assert not wrong


def test_the_pairs_are_in_order_and_named_by_whole_numbers(page: Page) -> None:
    page.evaluate("prepare({...trial, windows: []})")
    expect(page.locator("#choices")).to_be_hidden()  # no window, no box to choose one
    page.evaluate("pairsPlot({pairs: 1})")
    assert page.evaluate("document.getElementById('plot-pairs').layout.xaxis.dtick") == 1


def at_the_end_step_begins_again(page: Page) -> None:
    """At the first moment of the 20 s that are in view."""
    said = "This is the end of the trial. Step goes back to 80.00 s."
    expect(page.locator("#standing")).to_have_text(said)
    page.get_by_role("button", name="Step").click()
    expect(page.locator("#now")).to_have_text("80.00 s")
    expect(page.locator("#standing")).to_be_empty()


def assert_the_last_seconds_are_in_view(page: Page) -> None:
    """A plot shows the last 20 s, and the whole trial below."""
    page.get_by_label("Virtual time").fill("70")
    axis = "document.getElementById('plot-queue').layout.xaxis"
    assert page.evaluate(f"{axis}.range") == [50, 70]
    assert page.evaluate(f"{axis}.rangeslider.range") == [0, 100]


def assert_no_room_for_what_is_missing(page: Page) -> None:
    """A series that was not recorded has no plot; a sentence names the key."""
    expect(page.locator("#plot-windows")).to_be_visible()
    page.evaluate("prepare({...trial, windows: []})")
    expect(page.locator("#plot-windows")).to_be_hidden()
    expect(page.locator("#missing")).to_contain_text("the key record.cwnd_sample_ms records them")


def last_drawn(page: Page) -> tuple[float, int]:
    """The last point of the queue's line: seconds, cells."""
    line = "document.getElementById('plot-queue').data[0]"
    time_s, length = page.evaluate(f"[{line}.x.at(-1), {line}.y.at(-1)]")
    return time_s, length


def recorded(made: Made) -> set[tuple[int, int]]:
    """The record's own samples of the queue: nanoseconds, cells."""
    lines = (made.folder / "trials" / TRIALS[0] / "queue.csv").read_text().splitlines()[1:]
    return {(int(row[0]), int(row[2])) for row in (line.split(",") for line in lines)}
