# SPDX-License-Identifier: GPL-2.0-only
"""A report's page in a real browser, from a file: points, matrix, filters, pictures."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from analysis.records import read_campaign
from analysis.report import write_report
from studies.ubrplus_1998.study import STUDY
from tests.analysis import synthetic
from tests.browser import SIZES, assert_no_violation, opened

pytestmark = pytest.mark.browser

CELLS = {cell: values for cell, values in synthetic.paper_cells().items()
         if cell[0] == "WAN" and cell[1] in ("Reno", "SACK")}  # fmt: skip


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report") / "campaign"
    synthetic.write_campaign(folder, cells=CELLS, seeds=(1, 2))
    trial = folder / "trials" / "wan-sack-epd-1-2"
    synthetic.write_series(trial, 1062, synthetic.random.Random(1))
    synthetic.write_throughput(trial, synthetic.PAIRS)
    return write_report(read_campaign(folder), STUDY).html


@pytest.fixture(params=SIZES)
def page(report: Path, request: pytest.FixtureRequest) -> Iterator[Page]:
    with opened(report.as_uri(), request.param) as found:
        yield found


def test_the_page(page: Page, tmp_path: Path) -> None:
    asked: list[str] = []
    page.on("request", lambda one: asked.append(one.url))
    cells = page.locator("#explore-matrix button")
    expect(cells).to_have_count(12)
    page.get_by_role("combobox", name="flavor").select_option("SACK")
    expect(cells).to_have_count(6)
    points = "document.getElementById('explore-points').data"
    assert page.evaluate(f"[{points}.length, {points}[0].x.length]") == [1, 12]
    page.locator("#explore-points .point").first.hover(force=True)
    expect(page.locator("#explore-points .hoverlayer")).to_contain_text("wan-sack-epd-0.5-")
    page.get_by_role("button", name="SACK EPD 1: ").press("Enter")
    title = page.locator("#explore-name")
    expect(title).to_be_focused()
    expect(page.get_by_text("This trial recorded no tables over time to draw.")).to_be_visible()
    page.get_by_role("button", name="seed 2").click()
    expect(title).to_have_text("SACK EPD 1, seed 2")
    expect(page.locator("#explore-facts")).to_contain_text("wan-sack-epd-1-2")
    drawn = page.locator("#explore-pictures .picture")
    expect(drawn).to_have_count(7)
    assert len(page.evaluate("document.querySelector('.picture').data[0].x")) > 200
    expect(
        page.get_by_role("img", name="Queue occupancy towards the clients").first
    ).to_be_visible()
    assert_no_violation(page)
    page.screenshot(path=tmp_path / "report.png", full_page=True)
    page.emulate_media(media="print")
    expect(drawn.first).to_be_visible()
    expect(page.locator("#explore-filters")).to_be_hidden()
    assert asked == []
