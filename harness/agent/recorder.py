# SPDX-License-Identifier: GPL-2.0-only
"""Drains the queues' ring buffers to files while a trial runs, when its plan asks for it."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from harness.agent.queues import CELLQ, PORTS


class Recorder:
    """One `cellq record` a direction, for the duration of a `with`."""

    def __init__(self, plan: dict[str, Any], folder: Path) -> None:
        record = plan["record"]
        self.wanted = bool(record["frames"] or record["drops"] or record["queue_sample_ns"])
        self.folder = folder
        self._processes: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Self:
        if self.wanted:
            self._processes = [self._start(direction) for direction in PORTS]
        return self

    def _start(self, direction: str) -> subprocess.Popen[bytes]:
        out = self.folder / f"{direction}.cellq"
        return subprocess.Popen(
            [CELLQ, "record", "--name", direction, "--out", str(out), "--until-signal"]
        )

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for process in self._processes:
            process.send_signal(signal.SIGTERM)
        for process in self._processes:
            process.wait(timeout=60)
