# SPDX-License-Identifier: GPL-2.0-only
"""Captures the packets of the middle ports, in down.pcap and up.pcap.

A leaving packet is captured behind the queue, at its departure. A packet that the queue drops is
not captured (drops.csv has it). A packet from the other side is captured at its arrival. Times are
those of the lab's clock, exact to the nanosecond.
"""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from harness import capture
from plan.facts import TrialFacts
from plan.plan import Plan, Topology
from plan.queue import Port, Queue
from topology.commands import PORTS
from topology.run import ENVIRONMENT

# Ethernet 14, IPv4 20, TCP with all options 60 bytes.
HEADER_BYTES = 96
# Room for at least 100,000 packets that arrive while tcpdump waits for its file.
BUFFER_KIB = 32_768
END_S = 60.0

Direction = Literal["down", "up"]


class CaptureError(RuntimeError):
    """tcpdump failed; the text has its port and its output."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The ports, as `--pcap` names them."""

    pcap: Annotated[
        tuple[Direction, ...],
        "A list of `down`, of `up`, or of both. `down` writes the file down.pcap: all packets"
        " that leave the queue towards the clients, and all packets that come from the clients."
        " `up` writes the file up.pcap: all packets that leave the queue towards the servers, and"
        " all packets that come from the servers. `./cellbed run` with `--pcap` takes the"
        " directions of the option in place of this key.",
    ] = ()

    def wanted(self, topology: Topology, queue: Queue) -> Wanted:
        return Wanted(pcap=tuple(sorted(set(self.pcap))))


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """The same settings in the plan."""

    pcap: tuple[Direction, ...]


class Capture(capture.Capture[Wanted]):
    """Runs one tcpdump for each port."""

    during: ClassVar[Literal["trial", "workload"]] = "trial"
    unit: ClassVar[str] = "packets"

    def __enter__(self) -> object:
        ports = [port for port in self.site.ports if port.direction in self.wanted.pcap]
        self._counts: dict[str, dict[str, int]] = {}
        self._running: dict[str, subprocess.Popen[str]] = {}
        with ExitStack() as begun:
            for port in sorted(ports, key=lambda port: port.direction):
                self._running[port.name] = self._start(port)
                begun.callback(capture.killed, self._running[port.name])
            begun.pop_all()
        return self

    def _start(self, port: Port) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [
                *("tcpdump", "-n", "-i", port.device, "-s", str(HEADER_BYTES)),
                *("-B", str(BUFFER_KIB), "--time-stamp-precision=nano", "-Z", "root"),
                *("-w", str(self.site.folder / f"{port.name}.pcap")),
            ],
            stderr=subprocess.PIPE,
            text=True,
            env=ENVIRONMENT,
        )
        assert process.stderr is not None
        said = ""
        for line in process.stderr:
            said += line
            if "listening on" in line:
                return process
        process.communicate()
        raise CaptureError(f"capture of {port.name}: {' '.join(said.split())}")

    def __exit__(self, *error: object) -> None:
        for process in self._running.values():
            process.send_signal(signal.SIGTERM)
        self._counts = {port: ended(port, process) for port, process in self._running.items()}

    def facts(self) -> dict[str, Any]:
        """Return clock_offset_ns, the files' clock minus the monotonic clock, and packet counts."""
        offset_ns = time.time_ns() - time.monotonic_ns()
        told = {"clock_offset_ns": offset_ns, "ports": self._counts}
        return {"capture": told if self._counts else None}

    @staticmethod
    def missing(facts: TrialFacts) -> int | None:
        """Return the packets that a port's file lacks, by the interface's own counters."""
        if not facts.has("capture") or facts.capture is None:
            return None
        packets = [
            sum(facts.links[PORTS.get(port, port)][:2]) - counts["packets"]
            for port, counts in facts.capture.ports.items()
        ]
        return max(packets, key=abs)

    @classmethod
    def keep(cls, plan: Plan, raw: Path, t0_ns: int, folder: Path) -> None:
        layout = plan.topology.layout()
        for port in (name for way in plan.record.of(Wanted).pcap for name in layout.ways(way)):
            shutil.copyfile(raw / f"{port}.pcap", folder / f"{port}.pcap")


def ended(port: str, process: subprocess.Popen[str]) -> dict[str, int]:
    """Wait for the end of a tcpdump; return the packets that it wrote, and those that it lost."""
    _, said = process.communicate(timeout=END_S)
    counts = {
        name: re.search(rf"(\d+) packets? {words}", said)
        for name, words in (("packets", "captured"), ("lost", "dropped by kernel"))
    }
    missing = [name for name, found in counts.items() if found is None]
    if process.returncode != 0 or missing:
        raise CaptureError(f"capture of {port}: {' '.join(said.split())}")
    return {name: int(found[1]) for name, found in counts.items() if found is not None}
