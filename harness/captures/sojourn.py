# SPDX-License-Identifier: GPL-2.0-only
"""Records how long each packet was in the queue under test, in sojourn.csv."""

from __future__ import annotations

import csv
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from harness.capture import Programs
from plan.plan import Plan, Topology
from plan.queue import DIRECTIONS, Port, Queue

FILE = "sojourn.csv"
COLUMNS = ("time_ns", "port", "pair", "ip_bytes", "ecn", "sojourn_ns")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The ports whose packets are followed."""

    sojourn: Annotated[
        tuple[Literal["down", "up"], ...],
        "A list of `down`, of `up`, or of both. The trial writes the file sojourn.csv. This"
        " file has the time that each packet spent in the queue of each named direction.",
    ] = ()

    def wanted(self, topology: Topology, queue: Queue) -> Wanted:
        if self.sojourn and topology.coalesce_ns:
            raise ValueError(
                "record.sojourn: not with topology.coalesce_us, because a host then sends several"
                " segments as one packet"
            )
        if self.sojourn and topology.layout().named:
            raise ValueError(
                f"record.sojourn: not with topology.kind = {topology.kind}, because a packet also"
                " comes to a queue from another queue"
            )
        return Wanted(sojourn=tuple(sorted(set(self.sojourn))))


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """The same settings in the plan."""

    sojourn: tuple[str, ...] = field(default=(), metadata={"later": True})


class Capture(Programs[Wanted]):
    """Runs one program for each port."""

    during: ClassVar[Literal["trial", "workload"]] = "trial"
    announces: ClassVar[bool] = True

    def commands(self) -> list[list[str]]:
        ports = {port.direction: port for port in self.site.ports}
        return [self._argv(ports[direction]) for direction in self.wanted.sojourn]

    def _argv(self, port: Port) -> list[str]:
        network = port.dumbbell
        hosts = network.servers() if port.direction == "down" else network.clients()
        out = self.site.folder / file_of(port.direction)
        words = [str(out), port.device, *(host.switch_port for host in hosts)]
        return ["python3", "-B", "-m", "topology.sojourn", *words]

    @classmethod
    def keep(cls, plan: Plan, raw: Path, t0_ns: int, folder: Path) -> None:
        found = [name for name in DIRECTIONS if (raw / file_of(name)).exists()]
        if not found:
            return
        with (folder / FILE).open("w", newline="", encoding="ascii") as stream:
            table = csv.writer(stream)
            table.writerow(COLUMNS)
            for direction in found:
                with (raw / file_of(direction)).open(newline="", encoding="ascii") as rows:
                    table.writerows(
                        (int(time_ns) - t0_ns, direction, *rest)
                        for time_ns, *rest in csv.reader(rows)
                        if int(time_ns) >= t0_ns
                    )


def file_of(direction: str) -> str:
    """Return the name of the file that the program writes for a port."""
    return f"{direction}.sojourn.csv"
