# SPDX-License-Identifier: GPL-2.0-only
"""A kernel that calls the module in another order is refused: the agent's side of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.agent import callbacks
from harness.agent.flavor import FlavorError


@pytest.fixture
def parameters(tmp_path: Path) -> Path:
    (tmp_path / "callback_order").write_text("unknown\n")
    return tmp_path


def seen(parameters: Path, order: str) -> None:
    (parameters / "callback_order").write_text(f"{order}\n")


def test_the_right_order_is_taken_as_it_is_known(parameters: Path, monkeypatch):
    seen(parameters, "right")
    monkeypatch.setattr(callbacks, "send_one_segment", lambda: pytest.fail("known already"))
    callbacks.check(parameters)


def test_an_unknown_order_is_looked_at(parameters: Path, monkeypatch):
    monkeypatch.setattr(callbacks, "send_one_segment", lambda: seen(parameters, "right"))
    callbacks.check(parameters)


@pytest.mark.parametrize("order", ["wrong", "unknown"])
def test_another_order_is_refused_in_one_line(parameters: Path, monkeypatch, order: str):
    monkeypatch.setattr(callbacks, "send_one_segment", lambda: seen(parameters, order))
    monkeypatch.setattr(callbacks, "ACK_S", 0.01)
    with pytest.raises(FlavorError, match=rf"kernel \S+ is {order}: ") as caught:
        callbacks.check(parameters)
    assert "\n" not in str(caught.value)
