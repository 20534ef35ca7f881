# SPDX-License-Identifier: GPL-2.0-only
"""What a delay of the middle link is: the interface of the files in `delays/` with a class Delay.

`topology.delay` of an experiment names the file. Standard library only.
"""

from __future__ import annotations

from typing import ClassVar, Self

from plan.dumbbell import Dumbbell
from topology import commands


class Delay:
    """The box's delays, for the duration of a `with`.

    Attributes:
        devices: of each direction the box's device whose netem has the constant delay and, under
            a queue of packets, the link's rate.
    """

    devices: ClassVar[dict[str, str]] = {"down": commands.SAT_UP, "up": commands.SAT_DOWN}

    def __init__(self, box_pid: int, dumbbell: Dumbbell) -> None:
        self.box_pid = box_pid
        self.dumbbell = dumbbell

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return None
