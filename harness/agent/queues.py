# SPDX-License-Identifier: GPL-2.0-only
"""The queues of a trial at their ports: loaded, read and taken away."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any, Self

from harness.captures.queue import Wanted
from plan.dumbbell import Dumbbell
from plan.layout import Layout, Middle
from plan.plan import DELAYS, Plan
from plan.queue import Port, Schedule
from topology import commands
from topology.build import Network

# A box's devices at which comes in what leaves a port.
INTO_BOX = {"down": commands.SAT_DOWN, "up": commands.SAT_UP}


class LoadedQueues:
    """All queues under test, for the duration of a `with`."""

    def __init__(
        self,
        network: Network,
        plan: Plan,
        late_tolerance_ns: int = 0,
        schedule: Schedule | None = None,
    ) -> None:
        self.plan = plan
        self.ports = [
            port(network, plan, name, late_tolerance_ns, schedule)
            for name in plan.topology.layout().queues()
        ]

    def __enter__(self) -> Self:
        with ExitStack() as loaded:
            for one in self.ports:
                queue = self.plan.queue.at(one.direction)
                queue.load(one)
                loaded.callback(queue.unload, one)
            self._loaded = loaded.pop_all()
        return self

    def __exit__(self, *error: Any) -> None:
        self._loaded.__exit__(*error)

    def read(self) -> dict[str, Any]:
        """All counters of each queue, by its name."""
        return {one.name: self.plan.queue.at(one.direction).read(one) for one in self.ports}

    def passed(self) -> tuple[list[int], int]:
        """Packets that each queue has let out so far, and all that wait."""
        found = [self.plan.queue.at(one.direction).passed(one) for one in self.ports]
        return [delivered for delivered, _ in found], sum(waiting for _, waiting in found)


def port(
    network: Network, plan: Plan, name: str, late_tolerance_ns: int, schedule: Schedule | None
) -> Port:
    """An end of a middle link, for its queue."""
    layout, wanted = plan.topology.layout(), plan.record.of(Wanted)
    middle, direction = layout.queues()[name]
    delay = DELAYS[plan.topology.delay].Delay
    ends = layout.servers() if direction == "down" else layout.clients()
    crossing = layout.crossing(middle)
    return Port(
        name=name,
        direction=direction,
        device=middle.devices[direction],
        box_pid=network.pids[middle.box],
        far_device=INTO_BOX[direction],
        delay_device=delay.devices[direction],
        delay_link=delay.link(middle.link, direction),
        sender_pids=[network.pids[host.name] for host in ends if host.pair in crossing],
        dumbbell=as_dumbbell(layout, middle),
        frames=wanted.frames,
        drops=wanted.drops,
        sample_ns=wanted.queue_sample_ns,
        late_tolerance_ns=late_tolerance_ns,
        schedule=schedule if middle == layout.moved else None,
    )


def as_dumbbell(layout: Layout, middle: Middle) -> Dumbbell:
    """One middle link with the pairs of all, as the queues and delays of a dumbbell know it."""
    return Dumbbell(
        pairs=layout.pairs, access=layout.access, middle=middle.link, mss_bytes=layout.mss_bytes
    )
