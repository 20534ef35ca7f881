# SPDX-License-Identifier: GPL-2.0-only
"""Virtual time that stands still is told once, with the program; slow labs are not blamed."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

import pytest

from harness.labs import standstill
from harness.labs.standstill import StandstillWatch

KERNEL, WAITS, COMPUTES = 1, 2, 3
COMMANDS = {WAITS: "sleep 1e9", COMPUTES: "python3 -c while True: pass"}
SENTENCE = (
    "virtual time stands still at 2.500 s, because the program python3 -c while True: pass "
    "computes without waiting; press Ctrl-C to end it"
)
Told = Callable[[Callable[[float], float], float], list[str]]


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Told:
    """What is said in a minute, looked at each half second.

    Arguments: the lab's clock [s] by the host's; how much of a processor the lab has.
    """

    def watch(clock_s: Callable[[float], float], share: float) -> list[str]:
        wall_s = 0.0

        def ticks() -> dict[int, int]:
            used = round(100 * share * wall_s)
            return {KERNEL: 20, WAITS: 10, COMPUTES: used}

        def read_clock_s(pid: int) -> float | None:
            return clock_s(wall_s) if pid == WAITS else None

        monkeypatch.setattr(time, "monotonic", lambda: wall_s)
        monkeypatch.setattr(standstill, "read_clock_s", read_clock_s)
        monkeypatch.setattr(standstill, "read_command", lambda pid: COMMANDS.get(pid, ""))
        watched, said = StandstillWatch(ticks, 0.01), []
        for _ in range(120):
            wall_s += 0.5
            if sentence := watched.look():
                said.append(f"{wall_s:g} s: {sentence}")
        return said

    return watch


def test_a_clock_that_stands_still_is_told_once_and_soon(told: Told) -> None:
    assert told(lambda wall_s: min(wall_s, 2.5), 0.5) == [f"11 s: {SENTENCE}"]


def test_a_look_names_the_clock_and_who_computed_most(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(standstill, "read_clock_s", lambda pid: 7.5 if pid == WAITS else None)
    monkeypatch.setattr(standstill, "read_command", lambda pid: COMMANDS.get(pid, ""))
    before = {KERNEL: 10, WAITS: 50, COMPUTES: 5}
    after = {KERNEL: 90, WAITS: 51, COMPUTES: 30}
    assert standstill.look_into(after, before) == (7.5, "python3 -c while True: pass")
    assert standstill.look_into(after, after) == (7.5, "")


def test_a_clock_that_goes_slowly_is_not(told: Told) -> None:
    assert told(lambda wall_s: wall_s // 5 / 1e9 + 1, 1.0) == []


def test_a_lab_that_the_host_lets_wait_is_not(told: Told) -> None:
    assert told(lambda wall_s: 2.5, 0.005) == []


def test_a_process_of_this_machine_has_neither_clock_nor_command() -> None:
    assert standstill.read_clock_s(os.getpid()) is None
    assert standstill.read_command(os.getpid()) == ""


AUXILIARY = (15).to_bytes(8, "little"), bytes(16)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([b"./a", b"--b=c", b"d\ne"], "./a --b=c d e"),
        ([b"qemu-x86_64", b"x" * 100], f"qemu-x86_64 {'x' * 45}..."),
        ([b"./a", b"\x1b[2J"], ""),
        ([b"\xff\xfe", b"a"], ""),
    ],
)
def test_a_command_is_read_from_the_end_of_a_stack(
    monkeypatch: pytest.MonkeyPatch, arguments: list[bytes], said: str
) -> None:
    strings = b"\0".join([b"x86_64", *arguments, b"PATH=/bin", b"Y=", b"./a"])
    end = strings.ljust(1500, b"\0")
    address = standstill.CLOCK_PAGE - len(end)
    key, null = AUXILIARY
    page = (key + address.to_bytes(8, "little") + null + end).rjust(standstill.PAGE, b"\1")
    monkeypatch.setattr(standstill, "read_page", lambda pid, place: page)
    assert standstill.read_command(1) == said
