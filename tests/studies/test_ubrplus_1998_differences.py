# SPDX-License-Identifier: GPL-2.0-only
"""Kernel, model and simulation: no sentence stays when its kept trials part from it."""

from __future__ import annotations

import pytest

from analysis.kept import Kept
from analysis.report import sentences
from harness.judge import studies
from studies.ubrplus_1998 import apart, differences, simulation

FOLDER = studies.folder("ubrplus_1998")
KEPT = Kept(FOLDER / "results")
SENTENCES = sentences.load(FOLDER / sentences.FILE)


def written(name: str) -> str:
    sentence = SENTENCES[name]
    return sentences.written(sentence, differences.NUMBERS[sentence.numbers](KEPT), "here")


def test_a_model_that_surely_differs_is_not_called_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert "does not show that they differ" in written("sensitive")
    moved = {
        key: {**found, "efficiency": found["efficiency"] - 0.1}
        for key, found in simulation.modelled().items()
    }
    monkeypatch.setattr(differences, "modelled", lambda: moved)
    assert written("sensitive").endswith("So with these seeds, they differ (95 %).")


def test_a_model_below_the_simulation(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "the model is above the simulation" in written("sack-meo")
    monkeypatch.setattr(
        differences, "modelled", lambda: {(*differences.SACK_MEO, "1"): {"efficiency": 0.5}}
    )
    assert "above the simulation" not in written("sack-meo")


def test_requests_that_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "does not show" in written("requests")
    kept = apart.kept_lines(apart.KEPT_FILE)
    same = {key: kept[(*key[:6], "0")] for key in kept}
    monkeypatch.setattr(apart, "kept_lines", lambda path: same)
    assert "This fits" not in written("requests")


def test_another_order_of_the_flavors(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "1 ends the paper's order" in written("order")
    monkeypatch.setattr(differences, "_orders", lambda kept: [["SACK", "Reno"]] * 5)
    assert "ends the paper's order" not in written("order")


def test_clients_that_ask_at_once_are_those_of_the_model() -> None:
    """apart.csv with 0 ns between two requests has the figures of model.csv."""
    both = [
        (found, simulation.modelled()[key[:6]])
        for key, found in apart.kept_lines(apart.KEPT_FILE).items()
        if key[6] == "0" and key[:6] in simulation.modelled()
    ]
    assert both and all(one == other for one, other in both)
