# SPDX-License-Identifier: GPL-2.0-only
"""A lab in real time ends in peace, whenever its host's timers expire."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress

import pytest

from harness.labs import Lab, LabSpec
from harness.labs.session import session
from harness.labs.supervised import SupervisedLab

pytestmark = pytest.mark.lab

LIMIT_S = 60.0
LAST_WORD = "Power down"


def test_timers_expire_all_the_time_while_it_powers_off() -> None:
    """On a busy host one may at any step: a lab crashed after its last word."""
    with session("uml", LabSpec(pairs=1, clock="real")) as lab:
        assert isinstance(lab, SupervisedLab)
        assert next(lab.events())["event"] == "boot"
        (kernel,) = lab.kernel_processes()
        lab.submit({"kind": "end"})
        await_true(lambda: LAST_WORD in lab.console())
        await_true(lambda: alarm(lab, kernel))
        assert lab.poll() == 0, lab.console()


def alarm(lab: Lab, kernel: int) -> bool:
    """A timer of the kernel's host expires; has the lab ended?"""
    with suppress(ProcessLookupError):
        os.kill(kernel, signal.SIGALRM)
    return lab.poll() is not None


def await_true(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + LIMIT_S
    while not condition():
        assert time.monotonic() < end
