# SPDX-License-Identifier: GPL-2.0-only
"""The interface of a delay of the middle link: each kind is a file in `delays/` with a class Delay.

`topology.delay` of an experiment names the kind. Standard library only.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Self

from plan.checks import Check
from plan.dumbbell import Dumbbell
from plan.layout import Link
from topology import commands
from topology.run import batch, in_namespace


class Delay:
    """The delays of the box in the middle, for the duration of a `with`.

    Attributes:
        devices: direction -> the box's device whose netem has the constant delay. With a queue of
            packets, this netem also has the rate of the link.
        of_workload: whether the workload assigns the delays. If so, only a workload that names this
            kind can have it (workload/source.py), and it may use the class's other methods.
        since: a feature of Linux that the delay needs -> the first release that has it.
        checks: the checks of a trial with this delay, beside those of all trials (plan/checks.py).
    """

    devices: ClassVar[Mapping[str, str]] = {"down": commands.SAT_UP, "up": commands.SAT_DOWN}
    of_workload: ClassVar[bool] = False
    since: ClassVar[Mapping[str, tuple[int, int]]] = {}
    checks: ClassVar[tuple[Check, ...]] = ()

    def __init__(self, box_pid: int, dumbbell: Dumbbell) -> None:
        self.box_pid = box_pid
        self.dumbbell = dumbbell

    @staticmethod
    def link(middle: Link, direction: str) -> Link:
        """Return the middle link of a direction, with the delay of netem at its device."""
        return middle

    def __enter__(self) -> Self:
        self._set({way: self.link(self.dumbbell.middle, way) for way in self.devices})
        return self

    def __exit__(self, *_: object) -> None:
        self._set(dict.fromkeys(self.devices, self.dumbbell.middle))

    def _set(self, links: Mapping[str, Link]) -> None:
        """Set these links at the devices whose link this kind changes."""
        middle = self.dumbbell.middle
        others = [way for way in self.devices if self.link(middle, way) != middle]
        with in_namespace(self.box_pid):
            batch("tc", [commands.box_delay(self.devices[way], links[way]) for way in others])
