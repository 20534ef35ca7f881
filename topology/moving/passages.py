# SPDX-License-Identifier: GPL-2.0-only
"""Captures packets on a moving path with tcpdump, independently of the code that realises the path.

    switches   packets from hosts at their arrival at the port; packets from the box after the delay
    box        packets that have left the link, before the delay

In the lab, `Watch` runs tcpdump. On the host, harness/records/moving.py reads the files.
"""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import time
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO

from topology import commands
from topology.run import ENVIRONMENT, in_namespace

# Bytes of each record: Linux cooked capture 20, IPv4 20, ports and sequence number 8.
HEADER_BYTES = 48
# Room for at least 6,000 packets. Time stands still while tcpdump takes them out of it. Each page
# of it takes User-Mode Linux some microseconds.
BUFFER_KIB = 1_024
# The C library would write 1 KiB at a time into a file of the host.
WRITTEN_AT_ONCE = "256K"
# The kernel hands packets over when a block is full, or one second after the block's first packet.
HANDED_OVER_S = 2.0
END_S = 60.0
PLACES = ("switches", "box")
# direction -> the box's device where packets arrive after the server.
AFTER_SERVER = {"down": commands.SAT_DOWN, "up": commands.SAT_UP}


def file(folder: Path, place: str) -> Path:
    """Return the file that tcpdump writes."""
    return folder / f"path-{place}.pcap"


class WatchError(RuntimeError):
    """tcpdump failed; the text has its place and its output."""


class Watch:
    """Runs both tcpdumps for the duration of a `with`.

    ports: direction -> the switch's port to the moving link, where a packet enters the link. A
    packet of the other direction arrives there after the delay.
    """

    def __init__(self, folder: Path, box_pid: int, ports: Mapping[str, str]) -> None:
        self.folder = folder
        self.box_pid = box_pid
        self.after_delay = {"down": ports["up"], "up": ports["down"]}
        self._running: dict[str, subprocess.Popen[str]] = {}
        self._indexes: dict[str, int] = {}

    def __enter__(self) -> Watch:
        with ExitStack() as begun:
            self._start("switches", self.after_delay, begun)
            with in_namespace(self.box_pid):
                self._start("box", AFTER_SERVER, begun)
            begun.pop_all()
        return self

    def _start(self, place: str, devices: Mapping[str, str], begun: ExitStack) -> None:
        self._indexes |= {
            f"{place} {way}": socket.if_nametoindex(device) for way, device in devices.items()
        }
        with file(self.folder, place).open("wb") as stream:
            process = self._tcpdump(stream)
        begun.callback(process.wait)
        begun.callback(process.kill)
        self._running[place] = process
        assert process.stderr is not None
        said = ""
        for line in process.stderr:
            said += line
            if "listening on" in line:
                return
        raise WatchError(f"the capture of the path, {place}: {' '.join(said.split())}")

    @staticmethod
    def _tcpdump(stream: BinaryIO) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [
                *("stdbuf", "-o", WRITTEN_AT_ONCE),
                *("tcpdump", "-n", "-i", "any", "-y", "LINUX_SLL2"),
                *("-s", str(HEADER_BYTES), "-B", str(BUFFER_KIB)),
                *("--time-stamp-precision=nano", "-Z", "root"),
                *("-w", "-", "inbound"),
            ],
            stdout=stream,
            stderr=subprocess.PIPE,
            text=True,
            env=ENVIRONMENT,
        )

    def __exit__(self, kind: object = None, *rest: object) -> None:
        time.sleep(HANDED_OVER_S)
        for process in self._running.values():
            process.send_signal(signal.SIGTERM)
        for place, process in self._running.items():
            _, said = process.communicate(timeout=END_S)
            lost = re.search(r"(\d+) packets? dropped by kernel", said)
            if kind is None and (process.returncode or lost is None or lost[1] != "0"):
                raise WatchError(f"the capture of the path, {place}: {' '.join(said.split())}")

    def facts(self) -> dict[str, Any]:
        """Return the values that a reader of the files needs: clock offset, device indexes."""
        return {
            "clock_offset_ns": time.time_ns() - time.monotonic_ns(),
            "indexes": self._indexes,
        }
