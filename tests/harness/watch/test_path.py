# SPDX-License-Identifier: GPL-2.0-only
"""A moving path as its page plays it: the data, and the pictures in a real browser."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from harness.watch.path import MOST_POINTS, STEP_S, moving
from harness.watch.server import serving
from plan.facts import TrialFacts, read
from plan.path import Way
from tests.analysis.test_moving_path import HANDOVER, S, trial_on
from tests.browser import assert_no_violation, opened
from tests.harness.watch.made import Made

PATH = {
    "t": [0, 10, 20, 30],
    "mbit": [8, 0, 4, 4],
    "delays": {"down": {"t": [0, 20], "ms": [20, 30]}, "up": {"t": [0, 20], "ms": [21, 33]}},
    "silent": [[10, 20]],
    "pairs": [1, 2],
}


def test_a_handover_as_the_page_gets_it(tmp_path: Path) -> None:
    """The path has 8 Mbit/s, is silent from 2 to 2.5 s and has 4 Mbit/s to second 5, in rounds."""
    trial = trial_on(tmp_path, HANDOVER)
    found = moving(trial)
    assert found is not None
    at = dict(zip(found["t"], found["mbit"], strict=True))
    assert (at[0.0], at[1.95], at[2.0], at[2.45], at[2.5], at[5.0]) == (8, 8, 0, 0, 4, 8)
    assert len(found["t"]) == trial.plan.workload.duration_s / STEP_S
    for way in ("down", "up"):
        assert found["delays"][way]["t"][:4] == [0, 2, 5, 7]
        assert found["delays"][way]["ms"][:4] == [20, 30, 20, 30]
    assert found["silent"][:2] == [(2, 2.5), (7, 7.5)]
    assert found["pairs"] == list(range(1, trial.plan.topology.pairs + 1))


def test_a_trial_that_starts_late_plays_the_path_by_its_own_clock(tmp_path: Path) -> None:
    found = moving(trial_on(tmp_path, HANDOVER, late_s=1))
    assert found is not None
    at = dict(zip(found["t"], found["mbit"], strict=True))
    assert (at[0.95], at[1.0], at[1.5]) == (8, 0, 4)
    assert found["silent"][0] == (1, 1.5) and found["delays"]["down"]["t"][:2] == [0, 1]


def test_while_a_trial_that_begins_itself_is_under_way_its_path_is_not_known(
    tmp_path: Path,
) -> None:
    trial = trial_on(tmp_path, HANDOVER)  # of the workload www
    assert moving(replace(trial, facts=read(TrialFacts, {}))) is None


def test_a_path_with_many_changes_stays_small(tmp_path: Path) -> None:
    count = 10_000  # one each 10 ms
    times_us = range(0, count * S // 100, S // 100)
    way = Way(times_us=times_us, rates_bit_per_s=(S,), delays_us=range(20_000, 20_000 + count))
    found = moving(trial_on(tmp_path, way))
    assert found is not None and len(found["t"]) <= MOST_POINTS
    assert 0 < len(found["delays"]["down"]["t"]) <= MOST_POINTS


def test_a_still_path_has_nothing_to_play(tmp_path: Path) -> None:
    trial = trial_on(tmp_path, HANDOVER)
    still = replace(trial.plan.topology, path=None)
    assert moving(replace(trial, plan=replace(trial.plan, topology=still))) is None


@pytest.mark.browser
def test_the_page_plays_a_handover(tmp_path: Path) -> None:
    """Rate and delays up to the moment; the link of the network says that it is silent."""
    made = Made(tmp_path)
    with serving(made.folder) as server, opened(server.url, "desktop") as page:
        page.get_by_role("button", name="WAN SACK EPD 0.5, seed 1: valid").click()
        expect(page.locator("#now")).to_have_text("100.00 s")
        expect(page.locator("#plot-path")).to_be_hidden()
        page.evaluate("(path) => { trial.path = path; prepare(trial); }", PATH)
        expect(page.locator("#plot-path")).to_be_visible()
        shows(page, "9", "8.0", "20 ms to the clients and 21 ms to the servers", silent=False)
        shows(page, "15", "0.0", "20 ms to the clients and 21 ms to the servers", silent=True)
        shows(page, "25", "4.0", "30 ms to the clients and 33 ms to the servers", silent=False)
        expect(page.locator("#delay")).to_have_text("30 ms")
        assert_no_violation(page)


def shows(page: Page, moment: str, mbit: str, delays: str, *, silent: bool) -> None:
    """The plots at a moment, to which their lines lead, and the link in the network."""
    page.get_by_label("Virtual time").fill(moment)
    at = f"At {float(moment):.2f} s:"
    told = {"plot-path": f"the link has {mbit} Mbit/s", "plot-delays": delays}
    for plot, text in told.items():
        expect(page.locator(f"#{plot}")).to_have_attribute("aria-label", f"{at} {text}")
    for plot, place in (("plot-path", 0), ("plot-delays", 0), ("plot-delays", 1)):
        line = f"document.getElementById('{plot}').data[{place}]"
        assert page.evaluate(f"{line}.x.at(-1)") == float(moment)
    assert page.evaluate("document.getElementById('middle').classList.contains('silent')") == silent
