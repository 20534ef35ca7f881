# SPDX-License-Identifier: GPL-2.0-only
"""A trial that runs, in a real browser: seen, paused, let go by steps, slowed down, and its end."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from harness import hold
from harness.events import TrialStarted
from harness.watch.server import serving
from tests.browser import LIMIT_MS, SIZES, assert_no_violation, opened
from tests.harness.watch.lab import Lab
from tests.harness.watch.made import TRIALS, Made

pytestmark = pytest.mark.browser

NAME = TRIALS[1]


@pytest.fixture
def made(tmp_path: Path) -> Made:
    return Made(tmp_path)


@pytest.fixture
def lab(tmp_path: Path, made: Made) -> Lab:
    lab = Lab(tmp_path, NAME)
    made.say(TrialStarted(trial=NAME, lab=str(lab.folder), waits=True))
    return lab


@pytest.fixture(params=SIZES)
def page(made: Made, lab: Lab, request: pytest.FixtureRequest) -> Iterator[Page]:
    with serving(made.folder) as server, opened(server.url, request.param) as found:
        yield found


def test_live(page: Page, made: Made, lab: Lab, tmp_path: Path) -> None:
    now, live = page.locator("#now"), page.locator("#live")
    expect(page.get_by_role("heading", name=NAME)).to_be_visible()
    lab.second(1)
    expect(page.get_by_role("heading", name=NAME)).to_be_focused()
    expect(live).to_be_visible()
    lab.second(2)
    lab.second(3)
    expect(now).to_have_text("3.00 s")
    assert until(lab) is None
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Pause")).to_be_focused()
    page.keyboard.press("Enter")
    await_until(page, lab, 3)
    lab.second(4)  # it was under way
    expect(now).to_have_text("4.00 s")  # the page goes to where the lab stands,
    assert until(lab) == 3  # and lets it go no further for that
    one_time(page, 4)
    page.get_by_label("Virtual time").fill("2")
    standing = page.locator("#standing")
    expect(standing).to_have_text("The lab has run to 4.00 s.")
    step = page.get_by_role("button", name="Step")
    step.click()
    expect(now).to_have_text("3.00 s")
    step.click()
    expect(now).to_have_text("4.00 s")
    expect(standing).to_be_empty()
    step.click()
    await_until(page, lab, 5)
    expect(now).to_have_text("4.00 s")
    lab.second(5)
    expect(now).to_have_text("5.00 s")
    one_time(page, 5)
    what_is_drawn(page)
    page.get_by_role("checkbox", name="2").press("Space")
    assert page.evaluate("document.getElementById('plot-windows').data[1].visible") is False
    assert_no_violation(page)
    page.screenshot(path=tmp_path / "live.png", full_page=True)
    for second in (6, 7):  # a step that comes before the lab is so far counts, too
        step.click()
        await_until(page, lab, second)
    for second in (6, 7):
        lab.second(second)
    expect(now).to_have_text("7.00 s")
    page.get_by_label("Speed").select_option("1 ×")
    page.get_by_role("button", name="Play").click()
    await_until(page, lab, 9)
    page.get_by_label("Speed").select_option("as the trial runs")
    await_until(page, lab, None)
    made.end(NAME)
    lab.folder.rename(tmp_path / "gone")
    expect(live).to_be_hidden()
    expect(page.locator("#facts")).to_contain_text("1 checks ok")


def test_a_moment_that_the_viewer_chose_stays(page: Page, lab: Lab) -> None:
    """A page that plays slowly, or whose time was moved, does not go to where the lab stands."""
    now, standing = page.locator("#now"), page.locator("#standing")
    lab.second(1)
    lab.second(2)
    expect(now).to_have_text("2.00 s")
    page.get_by_label("Virtual time").fill("1.5")
    await_until(page, lab, 2)
    lab.second(3)
    expect(standing).to_have_text("The lab has run to 3.00 s.")
    expect(now).to_have_text("1.50 s")
    page.get_by_label("Speed").select_option("0.1 ×")
    page.get_by_role("button", name="Play").click()
    page.get_by_role("button", name="Pause").click()
    shown = float((now.text_content() or "").split()[0])
    lab.second(4)
    expect(standing).to_have_text("The lab has run to 4.00 s.")
    assert float((now.text_content() or "").split()[0]) == shown < 3
    page.get_by_label("Speed").select_option("as the trial runs")
    page.get_by_role("button", name="Play").click()
    lab.second(5)
    expect(now).to_have_text("5.00 s")
    expect(standing).to_be_empty()


def test_a_slow_browser_draws_the_newest(page: Page, lab: Lab) -> None:
    """What came while it drew is one picture: a page that drew all would fall behind for ever."""
    lab.second(1)
    expect(page.locator("#now")).to_have_text("1.00 s")
    page.evaluate("""() => {
        window.pictures = 0;
        const before = prepare;
        prepare = (found) => { window.pictures += 1; before(found); };
        for (const until_s of [11, 12, 13]) {
            stream.onmessage({data: JSON.stringify({...trial, until_s})});
        }
    }""")
    expect(page.locator("#now")).to_have_text("13.00 s")
    assert page.evaluate("window.pictures") == 1


def one_time(page: Page, second: int) -> None:
    """Slider, button and picture show the same moment."""
    assert float(page.get_by_label("Virtual time").input_value()) == second
    expect(page.locator(f'[id="trial-{NAME}"]')).to_have_text(f"{second} s")
    expect(page.locator("#network-text")).to_contain_text(f"At {second}.00 s")


def what_is_drawn(page: Page) -> None:
    """Five seconds of the lab."""
    queue = "document.getElementById('plot-queue').data"
    assert page.evaluate(f"[{queue}[0].x.length, {queue}[0].y.at(-1), {queue}[1].x.length]") == [
        20, 23, 5,
    ]  # fmt: skip
    assert page.evaluate("document.getElementById('plot-pairs').data[0].y") == [1, 2]
    said = "At 5.00 s: queue 23 cells, 5 frames dropped 3.0 Mbit/s"
    expect(page.get_by_role("img", name=said)).to_be_visible()
    assert page.locator("#access line").count() == 4


def until(lab: Lab) -> float | None:
    """How far the lab may go."""
    found: float | None = json.loads((lab.folder / hold.NAME).read_text())["until_s"]
    return found


def await_until(page: Page, lab: Lab, wanted: float | None) -> None:
    """The page has let it go so far."""
    for _ in range(LIMIT_MS // 100):
        if until(lab) == wanted:
            return
        page.wait_for_timeout(100)
    raise AssertionError(f"the lab may go until {until(lab)}, not {wanted}")
