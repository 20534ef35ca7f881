# SPDX-License-Identifier: GPL-2.0-only
"""Captures the packets of a middle port to a pcap file, when a trial's plan asks for it.

What leaves is seen behind the queue, at the moment of its departure; what the queue drops
is not seen (drops.csv has it); what comes in from the other side is seen as it arrives.
Times are the lab's clock to the nanosecond.
"""

from __future__ import annotations

import re
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from harness.agent.queues import PORTS
from topology.run import ENVIRONMENT

# Ethernet 14, IPv4 20, TCP with all options 60 bytes.
HEADER_BYTES = 96
# Room for what comes while tcpdump waits for its file: 100,000 packets and more.
BUFFER_KIB = 32_768
END_S = 60.0


class CaptureError(RuntimeError):
    """tcpdump did not do its work; says on which port and what it said."""


class Capture:
    """One tcpdump a port, for the duration of a `with`; `summary` tells afterwards.

    `summary`: None when nothing was wanted, else clock_offset_ns (from the monotonic clock
    of all tables to that of the files) and, a port, packets written and lost on the way.
    """

    def __init__(self, ports: Sequence[str], folder: Path) -> None:
        self.ports = ports
        self.folder = folder
        self.summary: dict[str, Any] | None = None
        self._running: dict[str, subprocess.Popen[str]] = {}

    def __enter__(self) -> Self:
        for port in self.ports:
            self._running[port] = self._start(port)
        return self

    def _start(self, port: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [
                *("tcpdump", "-n", "-i", PORTS[port], "-s", str(HEADER_BYTES)),
                *("-B", str(BUFFER_KIB), "--time-stamp-precision=nano", "-Z", "root"),
                *("-w", str(self.folder / f"{port}.pcap")),
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
        raise CaptureError(f"capture of {port}: {' '.join(said.split())}")

    def __exit__(self, *_: object) -> None:
        for process in self._running.values():
            process.send_signal(signal.SIGTERM)
        counts = {port: self._end(port, process) for port, process in self._running.items()}
        if counts:
            self.summary = {
                "clock_offset_ns": time.time_ns() - time.monotonic_ns(),
                "ports": counts,
            }

    def _end(self, port: str, process: subprocess.Popen[str]) -> dict[str, int]:
        _, said = process.communicate(timeout=END_S)
        counts = {
            name: re.search(rf"(\d+) packets? {words}", said)
            for name, words in (("packets", "captured"), ("lost", "dropped by kernel"))
        }
        missing = [name for name, found in counts.items() if found is None]
        if process.returncode != 0 or missing:
            raise CaptureError(f"capture of {port}: {' '.join(said.split())}")
        return {name: int(found[1]) for name, found in counts.items() if found is not None}
