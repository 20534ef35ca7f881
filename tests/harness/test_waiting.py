# SPDX-License-Identifier: GPL-2.0-only
"""A person who waits hears every few seconds how far the work is."""

from __future__ import annotations

import pytest

from harness import waiting


def test_a_line_says_how_many_have_ended_and_the_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    times_s = iter((100.0, 104.0, 106.0, 107.0, 112.0))
    monkeypatch.setattr(waiting.time, "monotonic", lambda: next(times_s))
    said: list[str] = []
    lines = waiting.Lines("connections", said.append)
    for ended in (1, 0, 2, 4):
        lines(ended, 16)
    assert said == [
        "connections: 0 of 16 have ended",
        "connections: 4 of 16 have ended; about 36 s left",
    ]


def test_elsewhere_than_on_a_terminal_it_is_a_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting, "EACH_S", 0.0)
    with waiting.waiting("connections") as told:
        told(0, 16)
    assert capsys.readouterr() == ("", "connections: 0 of 16 have ended\n")
