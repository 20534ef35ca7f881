# SPDX-License-Identifier: GPL-2.0-only
"""The end of a trial: nothing is counted while a packet is under way. The clock is a stand-in."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from harness.agent import drain

ROUND_TRIP_S = 0.04


@dataclass
class Clock:
    """Moves only when somebody sleeps."""

    now_s: float = 100.0

    def monotonic(self) -> float:
        return self.now_s

    def sleep(self, seconds: float) -> None:
        self.now_s += seconds


@dataclass
class Queues:
    """Packets leave at moments after the workload's end [s]."""

    clock: Clock
    departures: list[float] = field(default_factory=list)

    def passed(self) -> tuple[list[int], int]:
        gone = sum(at <= self.clock.now_s - 100 for at in self.departures)
        return [gone, 0], 0


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr(drain, "time", found)
    return found


def test_an_empty_network_is_drained_soon(clock: Clock) -> None:
    assert drain.drain(Queues(clock), ROUND_TRIP_S) < 5


@pytest.mark.parametrize("late_s", [0.3, 1.9, 2.7, 3.2, 3.9, 4.0])
def test_a_packet_that_a_timeout_sends_again_is_waited_for(clock: Clock, late_s: float) -> None:
    """Also while the hosts settle: it may still be between the queue and its host."""
    queues = Queues(clock, [late_s])
    drained_s = drain.drain(queues, ROUND_TRIP_S)
    assert queues.passed()[0] == [1, 0] or drained_s < late_s
    assert not late_s <= drained_s < late_s + drain.SETTLE_S


def test_a_network_that_never_rests_is_left_at_last(clock: Clock) -> None:
    queues = Queues(clock, [0.1 * n for n in range(5000)])
    drained_s = drain.drain(queues, ROUND_TRIP_S)
    limit_s = drain.DRAIN_LIMIT_S + drain.DRAIN_ROUND_TRIPS * ROUND_TRIP_S
    assert limit_s <= drained_s < limit_s + drain.SETTLE_S + 2 * drain.DRAIN_STEP_S


@pytest.mark.parametrize(("round_trip_s", "looks_every_s"), [(0.04, 0.5), (20, 0.5), (480, 12)])
def test_a_long_path_is_looked_at_less_often(
    clock: Clock, round_trip_s: float, looks_every_s: float
) -> None:
    """Up to 20 s it is as often as ever, so that no record changes."""
    slept: list[float] = []
    clock.sleep = lambda seconds: (slept.append(seconds), Clock.sleep(clock, seconds))[0]  # type: ignore[method-assign]
    drain.drain(Queues(clock), round_trip_s)
    assert {*slept} == {looks_every_s, drain.SETTLE_S}
