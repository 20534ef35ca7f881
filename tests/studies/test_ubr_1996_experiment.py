# SPDX-License-Identifier: GPL-2.0-only
"""The experiment file is the paper's two tables, row by row, and nothing beside EPD-n."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.design import experiment
from harness.design.trials import PlannedTrial, planned
from plan.errors import UsageError
from studies.ubr_1996.study import published, results
from tests import made_plans

FILE = Path(__file__).parents[2] / "studies" / "ubr_1996" / "ubr-persistent.toml"


def trials() -> list[PlannedTrial]:
    return planned(experiment.load(FILE), FILE, seeds=1)


def test_the_rows_are_the_papers() -> None:
    found = [trial.factors for trial in trials()]
    factors = ("network", "policy", "buffer", "window")
    rows = [tuple(str(f[name]) for name in factors) for f in found if f["sources"] == 5]
    paper = [row for row in rows if row[1] != "EPD-n"]
    assert sorted(paper) == sorted(results())
    assert len(rows) == 28
    assert len(found) == 28 + 3 + 3  # other numbers of sources; one source's windows


def test_all_20_rows_are_there() -> None:
    assert len(results()) == 20
    assert {network for network, *_ in results()} == {"LAN", "WAN"}
    assert sum(policy == "EPD" for _, policy, _, _ in results()) == 8


@pytest.mark.parametrize(
    ("cell", "values"),
    [
        (("LAN", "plain", 1000, 65_535), (0.20, 0.38)),
        (("LAN", "EPD", 1000, 65_535), (0.30, 0.52)),
        (("WAN", "plain", 36_000, 360_000), (0.96, 1.00)),  # N/A in the paper
        (("WAN", "EPD", 36_000, 360_000), None),
        (("LAN", "EPD-n", 1000, 65_535), None),
    ],
)
def test_lookup(cell: tuple[str, str, int, int], values: tuple[float, float] | None) -> None:
    network, policy, buffer, window = cell
    asked = {
        "tcp": {"flavor": {"name": "vanilla"}, "window_bytes": window},
        "queue": {"down": {"buffer_cells": buffer}},
    }
    levels = {"network": network, "policy": policy}
    found = published(levels, made_plans.plan(asked, {"topology": {"pairs": 5}}))
    assert found == (values and dict(zip(("efficiency", "fairness"), values, strict=True)))
    # Of two sources it says nothing.
    assert published(levels, made_plans.plan(asked, {"topology": {"pairs": 2}})) is None


def test_as_many_pairs_as_sources() -> None:
    for trial in trials():
        assert trial.plan.topology.pairs == trial.factors["sources"]


@pytest.mark.parametrize(("network", "link_ns"), [("LAN", 5_000), ("WAN", 5_000_000)])
def test_three_equal_links(network: str, link_ns: int) -> None:
    for trial in trials():
        if trial.factors["network"] == network:
            topology = trial.plan.topology
            assert topology.delay_ns == topology.access_delay_ns == link_ns
            assert topology.rate_bit_per_s == topology.access_rate_bit_per_s == 155_520_000


def test_buffer_window_and_threshold_are_those_of_the_row() -> None:
    for trial in trials():
        down, factors = trial.plan.queue.down, trial.factors
        assert down.buffer_cells == factors["buffer"]
        assert trial.plan.tcp.window_bytes == factors["window"]
        threshold = (down.threshold_ppm, down.threshold_minus_cells)
        assert (
            threshold
            == {
                "plain": (None, None),
                "EPD": (800_000, None),
                "EPD-n": (None, 60),
            }[str(factors["policy"])]
        )
        assert trial.plan.queue.up.policy == "plain"


def changed(tmp_path: Path, old: str, new: str) -> Path:
    text = FILE.read_text()
    assert old in text
    path = tmp_path / "changed.toml"
    path.write_text(text.replace(old, new))
    return path


def test_only_leaves_out_what_it_does_not_list(tmp_path: Path) -> None:
    path = changed(tmp_path, 'window = [8192]\npolicy = ["plain"]', "window = [8192]")
    cells = list(experiment.load(path).cells())
    assert len(cells) == 36
    assert sum(cell["window"] == 8192 for cell in cells) == 3


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("window = [8192]\n", "windows = [8192]\n", "only 3: windows: no such factor"),
        ("window = [8192]\n", "window = [8191]\n", "only 3: window = 8191: no such level"),
    ],
)
def test_only_names_factors_and_levels(tmp_path: Path, old: str, new: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        experiment.load(changed(tmp_path, old, new))
