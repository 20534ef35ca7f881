# SPDX-License-Identifier: GPL-2.0-only
"""The lab of a test ends when it has worked for too long, or its virtual clock stands. No lab."""

from __future__ import annotations

import threading
from typing import Any, cast

import pytest

from harness.labs import Lab
from harness.selftests import watch
from harness.selftests.watch import STILL_CPU_S, Watch
from plan.errors import LabError


class Machine:
    """A lab that computes without a pause, and the clock by which it is looked at."""

    def __init__(self, *, clock_per_s: float, exact: bool) -> None:
        self.now_s, self.clock_per_s, self.exact, self.count = 0.0, clock_per_s, exact, 9
        self.each_s = float("inf")

    @property
    def begun(self) -> int:
        return 1 + int(self.now_s / self.each_s)

    def monotonic(self) -> float:
        return self.now_s

    def cpu_s(self) -> float:
        return self.now_s

    def processes(self) -> int:
        return self.count

    def glance(self) -> tuple[float, str]:
        return 5.0 + self.now_s * self.clock_per_s, "./spin -v"


def looked_at(monkeypatch: pytest.MonkeyPatch, machine: Machine, limit_cpu_s: float) -> str:
    """Look each second for 1000 s, or to the end; what was said then."""
    monkeypatch.setattr(watch, "time", machine)
    found = Watch(cast(Lab, cast(Any, machine)), limit_cpu_s, lambda: machine.begun)
    for second in range(1000):
        machine.now_s = second
        try:
            found.look()
        except LabError as error:
            return str(error)
    return ""


def test_a_lab_that_works_beyond_its_limit_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(clock_per_s=1.0, exact=True)
    said = looked_at(monkeypatch, machine, 300)
    assert said == (
        "it has used 302 s of processor time, more than --limit 300; the lab's clock is at "
        "307.000 s, and ./spin -v computes most"
    )
    machine = Machine(clock_per_s=1.0, exact=True)
    machine.count = 3999
    assert looked_at(monkeypatch, machine, 300) == f"{said}; it has 3999 processes"
    assert looked_at(monkeypatch, Machine(clock_per_s=1.0, exact=True), 5000) == ""


def test_each_test_of_a_lab_has_the_whole_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    for each_s, limit_s, said in [(200, 300, ""), (400, 300, "302 s"), (200, 150, "152 s")]:
        machine = Machine(clock_per_s=1.0, exact=True)
        machine.each_s = each_s
        told = looked_at(monkeypatch, machine, limit_s)
        assert said in told and bool(said) == bool(told)


def test_ctrl_c_ends_a_lab_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "end_all", threading.Event())
    watch.end_all.set()
    machine = Machine(clock_per_s=1.0, exact=True)
    assert looked_at(monkeypatch, machine, 300) == "Ctrl-C ended the lab" and machine.now_s == 0


def test_a_virtual_clock_that_stands_still_ends_the_lab(monkeypatch: pytest.MonkeyPatch) -> None:
    said = looked_at(monkeypatch, Machine(clock_per_s=0.0, exact=True), 5000)
    assert said.startswith(f"virtual time stood still for {STILL_CPU_S + 2:.0f} s of computing; ")
    assert "the lab's clock is at 5.000 s, and ./spin -v computes most" in said
    real = looked_at(monkeypatch, Machine(clock_per_s=0.0, exact=False), 5000)
    assert real == ""
