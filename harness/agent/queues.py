# SPDX-License-Identifier: GPL-2.0-only
"""The two queues of a trial at their ports: loaded, read and taken away."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any, Self

from harness.captures.queue import Wanted
from plan.dumbbell import Host
from plan.plan import DELAYS, Plan
from plan.queue import DIRECTIONS, Port, Schedule
from topology import commands
from topology.build import Network

# The box's devices at which comes in what leaves a port.
INTO_BOX = {"down": commands.SAT_DOWN, "up": commands.SAT_UP}


class LoadedQueues:
    """Both directions' queues, for the duration of a `with`."""

    def __init__(
        self,
        network: Network,
        plan: Plan,
        late_tolerance_ns: int = 0,
        schedule: Schedule | None = None,
    ) -> None:
        self.plan = plan
        self.ports = [port(network, plan, d, late_tolerance_ns, schedule) for d in DIRECTIONS]

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
        """All counters of both directions."""
        return {one.direction: self.plan.queue.at(one.direction).read(one) for one in self.ports}

    def passed(self) -> tuple[list[int], int]:
        """Packets that each direction has let out so far, and all that wait."""
        both = [(self.plan.queue.at(name), counters) for name, counters in self.read().items()]
        delivered = [queue.delivered(counters) for queue, counters in both]
        return delivered, sum(queue.waiting(counters) for queue, counters in both)


def port(
    network: Network, plan: Plan, direction: str, late_tolerance_ns: int, schedule: Schedule | None
) -> Port:
    """An end of the middle link, for its queue."""
    dumbbell, wanted = plan.topology.dumbbell(), plan.record.of(Wanted)
    delay = DELAYS[plan.topology.delay].Delay
    senders: list[Host] = dumbbell.servers() if direction == "down" else dumbbell.clients()
    return Port(
        direction=direction,
        device=commands.PORTS[direction],
        box_pid=network.pids[commands.BOX],
        far_device=INTO_BOX[direction],
        delay_device=delay.devices[direction],
        delay_link=delay.link(dumbbell.middle, direction),
        sender_pids=[network.pids[host.name] for host in senders],
        dumbbell=dumbbell,
        frames=wanted.frames,
        drops=wanted.drops,
        sample_ns=wanted.queue_sample_ns,
        late_tolerance_ns=late_tolerance_ns,
        schedule=schedule,
    )
