# SPDX-License-Identifier: GPL-2.0-only
"""Prints how long each kind of wait took in the lab [ns], beside a timer that ends 1 ms later.

With its usual slack of a thousandth, the kernel would end both waits at the same moment.
"""

from __future__ import annotations

import os
import select
import time
from collections.abc import Callable

from topology.clock import wake_exactly

WAIT_S = 4


def waits() -> dict[str, Callable[[], object]]:
    """Return a wait of `WAIT_S` seconds for each call."""
    return {
        "select": lambda: select.select([], [], [], WAIT_S),
        "poll": lambda: select.poll().poll(WAIT_S * 1000),
        "epoll": lambda: select.epoll().poll(WAIT_S),
        "sleep": lambda: time.sleep(WAIT_S),
    }


def took_ns(wait: Callable[[], object]) -> int:
    """Return how long a wait took; a child of this process wakes 1 ms after its end."""
    child = os.fork()
    if not child:
        time.sleep(WAIT_S + 0.001)
        os._exit(0)
    begin = time.monotonic_ns()
    wait()
    took = time.monotonic_ns() - begin
    os.waitpid(child, 0)
    return took


def main() -> None:
    """Print a line for each call."""
    wake_exactly()
    for name, wait in waits().items():
        print(f"{name} took {took_ns(wait)} ns", flush=True)


if __name__ == "__main__":
    main()
