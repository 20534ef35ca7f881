# SPDX-License-Identifier: GPL-2.0-only
"""Who waits for a controller is told of it, with a command of the script's own folder. No lab."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from harness.scripts import controllers

RYU = "from ryu.base import app_manager\n"
POX = "import math\nfrom pox.core import core\n"


@pytest.mark.parametrize(
    ("files", "command"),
    [
        ({}, "ryu-manager app.py"),
        ({"a.py": "", "wall.py": RYU}, "ryu-manager wall.py"),
        ({"my apps/x.py": RYU}, "ryu-manager 'my apps/x.py'"),
        ({"hub.py": POX}, "cp hub.py pox/ext/ && cd pox && exec python3 pox.py hub"),
    ],
)
def test_the_example_is_of_the_folder(tmp_path: Path, files: dict[str, str], command: str) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert controllers.example(tmp_path) == command


@pytest.mark.parametrize(("connected", "listening", "waited_s", "told"), [
    (False, set(), 2.0, 1), (False, {6633}, 2.0, 1), (False, set(), 0.5, 0), (True, set(), 2.0, 0),
    (False, {6653}, 2.0, 0),
])  # fmt: skip
def test_a_switch_that_goes_before_it_found_its_controller_is_told(
    monkeypatch: pytest.MonkeyPatch,
    connected: bool,
    listening: set[int],
    waited_s: float,
    told: int,
) -> None:
    """But not one whose controller listened when it came: Mininet ends that one first."""
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    now_listening = listening
    monkeypatch.setattr(controllers, "ports", lambda: now_listening)
    seen = controllers.Controllers()
    row = {"target": "tcp:127.0.0.1:6653"}
    if connected:
        seen.take({"Controller": {"r": {"new": row | {"is_connected": True}}}})
    seen.take({"Controller": {"r": {"new": row | {"is_connected": False}}}})
    now[0] += waited_s
    now_listening = set()
    seen.take({"Controller": {"r": {"old": row}}})
    assert len(seen.waiting()) == told
    assert seen.waiting() == []
