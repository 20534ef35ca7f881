# SPDX-License-Identifier: GPL-2.0-only
"""Tells a person who waits what a lab does while its script says nothing. On the host."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from harness.labs import Lab

QUIET_S = 10.0
# Broadcasts, at one event, that left a device which had just sent the same. Without a loop of
# switches a frame leaves a device once: of 24,216 broadcasts in a star of 60 hosts 607 were such.
STORM_REPEATS = 5_000
OURS = "harness.scripts.lab"  # what looks at the clock, where nothing else computes


class Silence:
    """Call heard() for each text, alive() for each event "alive", and look() often.

    Args:
        tell: called with a sentence.
    """

    def __init__(self, lab: Lab, tell: Callable[[str], None]) -> None:
        self.lab = lab
        self.tell = tell
        self.told_storm = False
        self.last = {"virtual_s": 0.0, "packets": 0, "broadcasts": 0, "repeats": 0}
        self.marked = dict(self.last)
        self.heard()

    def heard(self) -> None:
        """The script has said something."""
        self.quiet_since = time.monotonic()
        self.lines = 0

    def alive(self, event: dict[str, Any]) -> None:
        """The lab's clock and counters, of which broadcasts may be a storm."""
        passed_s = event["virtual_s"] - self.last["virtual_s"]
        broadcasts = event["broadcasts"] - self.last["broadcasts"]
        repeats = event["repeats"] - self.last["repeats"]
        storm = passed_s > 0 and repeats >= STORM_REPEATS and repeats > broadcasts / 2
        self.last = {name: event[name] for name in self.last}
        if storm and not self.told_storm:
            self.told_storm = True
            self.tell(
                f"broadcast storm at {event['virtual_s']:.1f} s of the lab's clock: "
                f"{broadcasts / passed_s:,.0f} broadcasts a second, for example at "
                f"{event['device']}; switches in a loop need a spanning tree"
            )

    def look(self) -> None:
        """One line for each ten seconds without a text."""
        if time.monotonic() - self.quiet_since < QUIET_S * (self.lines + 1):
            return
        self.lines += 1
        clock_s, program = self.lab.glance()
        passed_s = self.last["virtual_s"] - self.marked["virtual_s"]
        packets = self.last["packets"] - self.marked["packets"]
        self.marked = dict(self.last)
        clock_s = max(clock_s, self.last["virtual_s"])
        parts = [f"no output for {QUIET_S * self.lines:.0f} s", f"the lab's clock: {clock_s:.1f} s"]
        if program and OURS not in program:
            parts.append(f"busiest program: {program}")
        if passed_s:
            parts.append(f"{packets / passed_s:,.0f} packets a second")
        self.tell("; ".join(parts))
