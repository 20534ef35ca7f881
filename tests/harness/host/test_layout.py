# SPDX-License-Identifier: GPL-2.0-only
"""doctor says whether a process gets the addresses that it asks for, by what one got."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from harness.machine import doctor
from tests.small import PROJECT

REFUSED = Path(__file__).with_name("refused.py")
ASK = "from harness.machine.doctor import layout as x; print(x().state, x().detail)"


def test_a_container_that_refuses_it() -> None:
    said = subprocess.run(
        [sys.executable, REFUSED, sys.executable, "-c", ASK], cwd=PROJECT, capture_output=True,
        text=True, check=True, timeout=60,
    ).stdout  # fmt: skip
    assert said.startswith("note random, since personality() is refused here")


def test_what_the_machine_gives(tmp_path: Path) -> None:
    got = subprocess.run(
        ["setarch", "-R", "cat", "/proc/self/personality"], capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert (doctor.layout().state == "ok") == (got.stdout.strip() == "00040000")


def test_a_machine_without_the_program_that_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    found = doctor.layout()
    assert (found.state, found.detail) == ("note", "not known: the program setarch is not there")
