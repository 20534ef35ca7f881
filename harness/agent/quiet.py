# SPDX-License-Identifier: GPL-2.0-only
"""Waits until an earlier trial has left nothing that could send into the next one.

A program that ends leaves its connections to the kernel. Those whose last segments were lost send
them again, after timeouts that double, long after the queues have been empty for a round trip. One
in TIME_WAIT holds its ports for a minute.
"""

from __future__ import annotations

import time
from collections.abc import Iterable

from harness.agent.procfs import SYSCTL_BYTES, text

LIMIT_S = 3600.0
"""More than the kernel takes to give a connection up: eight timeouts of at most two minutes."""
STEP_S = 1.0


def await_no_connections(pids: Iterable[int]) -> None:
    """Wait until no namespace of these processes has a TCP socket, orphans and TIME_WAIT too.

    Raises RuntimeError where one has some after an hour.
    """
    end = time.monotonic() + LIMIT_S
    for pid in pids:
        while has_sockets(pid):
            if time.monotonic() > end:
                raise RuntimeError(
                    f"an earlier trial's connections were still open after {LIMIT_S:.0f} s"
                )
            time.sleep(STEP_S)


def has_sockets(pid: int) -> bool:
    """Return whether there is any TCP socket of IPv4 in the namespace of `pid`, TIME_WAIT too."""
    return len(text(f"/proc/{pid}/net/tcp", SYSCTL_BYTES).splitlines()) > 1
