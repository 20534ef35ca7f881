# SPDX-License-Identifier: GPL-2.0-only
"""What a delay of the middle link is: the interface of the kinds in `delays/`, with a class Delay.

`topology.delay` of an experiment names the kind. Standard library only.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Self

from plan.checks import Check
from plan.dumbbell import Dumbbell, Link
from topology import commands
from topology.run import batch, in_namespace


class Delay:
    """The box's delays, for the duration of a `with`.

    Attributes:
        devices: of each direction the box's device whose netem has the constant delay and, under
            a queue of packets, the link's rate.
        of_workload: does the workload say who has which? Then none has it but one that asks for
            it by name (workload/source.py), and that is lent what more the class has.
        since: what it needs of Linux, and the first release that has it.
        checks: what a trial with it is held to beside what all are (plan/checks.py).
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
        """The middle link of a direction, with the delay that netem at its device has."""
        return middle

    def __enter__(self) -> Self:
        self._set({way: self.link(self.dumbbell.middle, way) for way in self.devices})
        return self

    def __exit__(self, *_: object) -> None:
        self._set(dict.fromkeys(self.devices, self.dumbbell.middle))

    def _set(self, links: Mapping[str, Link]) -> None:
        """Give the devices these links, those of which the kind makes another one."""
        middle = self.dumbbell.middle
        others = [way for way in self.devices if self.link(middle, way) != middle]
        with in_namespace(self.box_pid):
            batch("tc", [commands.box_delay(self.devices[way], links[way]) for way in others])
