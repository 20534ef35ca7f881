# SPDX-License-Identifier: GPL-2.0-only
"""What is told of a lab while its script says nothing; time is the test's. No lab."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import pytest

from harness.scripts.silence import Silence


class Watched:
    """Silence beside a lab that a test moves."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        self.glance = (0.0, "")
        monkeypatch.setattr(time, "monotonic", lambda: self.now)
        self.told: list[str] = []
        lab: Any = SimpleNamespace(glance=lambda: self.glance)
        self.silence = Silence(lab, self.told.append)

    def alive(self, virtual_s: float, packets: int, broadcasts: int, repeats: int = 0) -> None:
        self.silence.alive(
            {"virtual_s": virtual_s, "packets": packets, "broadcasts": broadcasts,
             "repeats": repeats, "device": "s2-eth1"}
        )  # fmt: skip


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Watched:
    return Watched(monkeypatch)


def test_each_ten_seconds_of_silence_have_a_line(watched: Watched) -> None:
    watched.glance = (3.25, "a -s")
    watched.now = 9.9
    watched.silence.look()
    assert watched.told == []
    watched.alive(3.0, 600, 0)
    watched.now = 10.0
    watched.silence.look()
    watched.silence.look()
    watched.now = 20.0
    watched.silence.look()
    assert watched.told == [
        "no output for 10 s; the lab's clock: 3.2 s; busiest program: a -s; 200 packets a second",
        "no output for 20 s; the lab's clock: 3.2 s; busiest program: a -s",
    ]


def test_a_text_ends_the_silence(watched: Watched) -> None:
    watched.now = 9.0
    watched.silence.heard()
    watched.now = 18.0
    watched.silence.look()
    assert watched.told == []


def test_a_storm_is_told_once_and_at_once(watched: Watched) -> None:
    """A torus, as it was measured: half of the traffic is between switches and controller."""
    watched.alive(0.656, 17_347, 8652, 8520)
    watched.alive(0.757, 44_545, 20_129, 19_951)
    watched.alive(0.858, 83_157, 37_726, 37_480)
    (sentence,) = watched.told
    assert "broadcast storm at 0.7 s" in sentence and "13,189 broadcasts a second" in sentence
    assert "s2-eth1" in sentence


@pytest.mark.parametrize(("broadcasts", "repeats"), [(24_000, 600), (1500, 1500), (24_000, 11_000)])
def test_busy_networks_are_no_storm(watched: Watched, broadcasts: int, repeats: int) -> None:
    """A star of 100 hosts floods each question to all of its ports, and each port has it once."""
    for second in range(1, 20):
        watched.alive(second, second * 25_000, second * broadcasts, second * repeats)
    assert watched.told == []
