# SPDX-License-Identifier: GPL-2.0-only
"""Programs in the hosts' namespaces, ended by their own process ids."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Self

from topology.run import ENVIRONMENT, in_namespace

READY_LIMIT_S = 60.0
READY_STEP_S = 0.01
NOTHING: Mapping[str, str] = MappingProxyType({})


class Daemons:
    """Programs that are started together and all ended on leaving the `with`."""

    def __init__(self) -> None:
        self.processes: list[subprocess.Popen[str]] = []

    def __enter__(self) -> Self:
        return self

    def start(
        self,
        pid: int,
        argv: Sequence[str],
        environment: Mapping[str, str] = NOTHING,
        inherited: Sequence[int] = (),
    ) -> subprocess.Popen[str]:
        """Start a program in the namespace of process `pid`, with descriptors that it inherits."""
        with in_namespace(pid):
            process = subprocess.Popen(
                argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                env={**ENVIRONMENT, **environment}, pass_fds=inherited,
            )  # fmt: skip
        self.processes.append(process)
        return process

    def __exit__(self, *_: object) -> None:
        for process in self.processes:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
        for process in self.processes:
            try:
                process.communicate(timeout=60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()


def wait_until(ready: Callable[[], bool], what: str) -> None:
    """Wait for a condition; raises RuntimeError naming it when it does not come."""
    end = time.monotonic() + READY_LIMIT_S
    while not ready():
        if time.monotonic() > end:
            raise RuntimeError(f"{what} was not ready within {READY_LIMIT_S:.0f} s")
        time.sleep(READY_STEP_S)
