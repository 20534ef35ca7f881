# SPDX-License-Identifier: GPL-2.0-only
"""The two queues of a trial at their ports: loaded, read, recorded and taken away."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path
from typing import Any, Self

from harness.plan import DELAYS, Plan
from topology import commands
from topology.build import Network
from topology.dumbbell import Host
from topology.queue import DIRECTIONS, Port
from topology.run import ENVIRONMENT

PORTS = {"down": commands.DOWN_PORT, "up": commands.UP_PORT}
# The box's devices at which comes in what leaves a port.
INTO_BOX = {"down": commands.SAT_DOWN, "up": commands.SAT_UP}
PROJECT = Path(__file__).resolve().parents[2]
END_S = 60


class LoadedQueues:
    """Both directions' queues, for the duration of a `with`."""

    def __init__(self, network: Network, plan: Plan, late_tolerance_ns: int = 0) -> None:
        self.plan = plan
        self.ports = [port(network, plan, d, late_tolerance_ns) for d in DIRECTIONS]

    def __enter__(self) -> Self:
        for one in self.ports:
            self.plan.queue.at(one.direction).load(one)
        return self

    def __exit__(self, *_: object) -> None:
        for one in self.ports:
            self.plan.queue.at(one.direction).unload(one)

    def read(self) -> dict[str, Any]:
        """All counters of both directions."""
        return {one.direction: self.plan.queue.at(one.direction).read(one) for one in self.ports}

    def passed(self) -> tuple[list[int], int]:
        """Packets that each direction has let out so far, and all that wait."""
        both = [(self.plan.queue.at(name), counters) for name, counters in self.read().items()]
        delivered = [queue.delivered(counters) for queue, counters in both]
        return delivered, sum(queue.waiting(counters) for queue, counters in both)


class RecordingError(RuntimeError):
    """What was recorded of a queue is not whole; says by which program and what it said."""


class Recorder:
    """What the plan wants recorded of the queues, for the duration of a `with`.

    Raises:
        RecordingError: at the end, where a program did not live to it or could not write.
    """

    def __init__(self, queues: LoadedQueues, folder: Path) -> None:
        wanted = [queues.plan.queue.at(one.direction).record_argv(one, folder)
                  for one in queues.ports]  # fmt: skip
        self.commands = [argv for argv in wanted if argv]
        self._processes: list[subprocess.Popen[str]] = []

    def __enter__(self) -> Self:
        self._processes = [
            subprocess.Popen(argv, cwd=PROJECT, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True)
            for argv in self.commands
        ]
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        for process in self._processes:
            process.send_signal(signal.SIGTERM)
        failed = [said for process in self._processes if (said := _failure(process))]
        if failed and kind is None:
            raise RecordingError("; ".join(failed))


def _failure(process: subprocess.Popen[str]) -> str:
    """Wait for the end of a program; what it says of its failure, "" without one."""
    _, said = process.communicate(timeout=END_S)
    if process.returncode == 0:
        return ""
    assert isinstance(process.args, list)
    argv = " ".join(process.args)
    return f"{argv}: status {process.returncode}: {' '.join(said.split()) or 'no word'}"


def port(network: Network, plan: Plan, direction: str, late_tolerance_ns: int) -> Port:
    """An end of the middle link, for its queue."""
    dumbbell = plan.topology.dumbbell()
    senders: list[Host] = dumbbell.servers() if direction == "down" else dumbbell.clients()
    return Port(
        direction=direction,
        device=PORTS[direction],
        box_pid=network.pids["sat"],
        far_device=INTO_BOX[direction],
        delay_device=DELAYS[plan.topology.delay].Delay.devices[direction],
        sender_pids=[network.pids[host.name] for host in senders],
        dumbbell=dumbbell,
        frames=plan.record.frames,
        drops=plan.record.drops,
        sample_ns=plan.record.queue_sample_ns,
        late_tolerance_ns=late_tolerance_ns,
    )
