# SPDX-License-Identifier: GPL-2.0-only
"""The kernel's trials less the model's: paired by seed, a figure a cell."""

from pathlib import Path

import pytest

from analysis.kept import Kept
from studies.ubrplus_1998 import beside_model

Trials = dict[tuple[str, ...], dict[str, float]]
KEPT = Kept(Path("nowhere"))


def trials(*efficiencies: float, minimum: str = "2 ticks") -> Trials:
    """Of a cell of each network, by seed."""
    return {
        (network, "SACK", "EPD", "1", minimum, str(seed)): {"efficiency": one, "fairness": 0.9}
        for network in ("WAN", "MEO", "GEO")
        for seed, one in enumerate(efficiencies, 1)
    }


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel has a seed more, and the model has the other minimum, too."""
    kernel = trials(0.80, 0.70, 0.91, 0.10) | trials(0.1, minimum="1 s")
    model = trials(0.70, 0.60, 0.80) | trials(0.9, minimum="1 s")
    monkeypatch.setattr(beside_model, "kernel", lambda kept: kernel)
    monkeypatch.setattr(beside_model, "modelled", lambda: model)


def test_a_difference_is_of_the_same_seeds(known: None) -> None:
    [one] = beside_model.differences(KEPT, "efficiency", "WAN")
    assert one.n == 3 and one.mean == pytest.approx(0.31 / 3)
    assert beside_model.excludes_0(one)


def test_a_line_of_the_table_and_the_sentence(known: None) -> None:
    sheet = beside_model.sheet(KEPT)
    assert sheet.texts()[0] == [
        "WAN", "1", "3", "0.103", "+0.103", "+0.103", "1", "0.000", "0.000", "0.000", "0",
    ]  # fmt: skip
    found = beside_model.numbers(KEPT)
    assert found["WAN"] == "3" and found["cells"] == 3
    assert found["efficiency_apart"] == 3 and found["fairness_apart"] == 0
    assert found["chance"] == pytest.approx(0.15)


def test_a_single_seed_has_no_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beside_model, "kernel", lambda kept: trials(0.8))
    monkeypatch.setattr(beside_model, "modelled", lambda: trials(0.1))
    found = beside_model.numbers(KEPT)
    assert (found["several"], found["efficiency_apart"], found["chance"]) == (0, 0, 0)
