# SPDX-License-Identifier: GPL-2.0-only
"""Waits after the workload until no packet is under way, so that the counters account for all."""

from __future__ import annotations

import time
from typing import Protocol

DRAIN_LIMIT_S = 120.0
DRAIN_STEP_S = 0.5
# A look at the queues takes longer than the wait for it: with a delay of minutes, fewer do.
LOOKS_A_ROUND_TRIP = 40
# What may still go to and fro: the last data, their resets, a reset that was lost.
DRAIN_ROUND_TRIPS = 10
# For what the hosts still have to do with the last packets.
SETTLE_S = 2.0


class Queues(Protocol):
    """The queues of both directions."""

    def passed(self) -> tuple[list[int], int]:
        """Packets that each direction has let out so far, and all that wait."""


def drain(queues: Queues, round_trip_s: float) -> float:
    """Wait until nothing is under way any more [s].

    Both queues are empty, and for a whole round trip nothing has left them: whatever the last
    packets may have called forth would be there. A timeout may still send a packet again at any
    moment, so nothing may have left them when the hosts have settled, either: a packet between the
    queue and its host would be missing from the counters.
    """
    begin = quiet_since = time.monotonic()
    delivered: list[int] = []
    step_s = max(DRAIN_STEP_S, round_trip_s / LOOKS_A_ROUND_TRIP)
    limit_s = DRAIN_LIMIT_S + DRAIN_ROUND_TRIPS * round_trip_s
    while time.monotonic() - begin < limit_s:
        time.sleep(step_s)
        before, delivered, waiting = delivered, *queues.passed()
        if waiting or delivered != before:
            quiet_since = time.monotonic()
        elif time.monotonic() > quiet_since + step_s + round_trip_s:
            time.sleep(SETTLE_S)
            if queues.passed() == (delivered, waiting):
                break
            quiet_since = time.monotonic()
    return time.monotonic() - begin
