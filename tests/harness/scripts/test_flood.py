# SPDX-License-Identifier: GPL-2.0-only
"""Packets that leave a script no time; the looks are the test's. No lab."""

from __future__ import annotations

import pytest

from harness.scripts.lab import FLOOD_LOOKS, Flood

LOOK_S = 0.1


def looks(
    monkeypatch: pytest.MonkeyPatch, packets: int, share: float
) -> tuple[list[str], list[None]]:
    """What is said in so many packets a look, of which ksoftirqd takes a share of the time."""
    busy_s = 0.0
    turns: list[None] = []
    monkeypatch.setattr("harness.agent.softirq.busy_s", lambda: busy_s)
    monkeypatch.setattr("harness.agent.softirq.take_turns", lambda: turns.append(None))
    flood = Flood()
    said = []
    for look in range(1, 3 * FLOOD_LOOKS):
        busy_s += share * LOOK_S
        said.append(flood.look(look * LOOK_S, look * packets))
    return list(filter(None, said)), turns


def test_packets_that_starve_all_processes_lose_their_precedence_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    [sentence], turns = looks(monkeypatch, 97_000, 0.99)
    assert len(turns) == 1
    assert "at 1.1 s of the lab's clock: 970,000 packets a second" in sentence


@pytest.mark.parametrize(("packets", "share"), [(97_000, 0.9), (9_000, 0.99)])
def test_busy_networks_keep_it(monkeypatch: pytest.MonkeyPatch, packets: int, share: float) -> None:
    assert looks(monkeypatch, packets, share) == ([], [])
