# SPDX-License-Identifier: GPL-2.0-only
"""By which exit codes of compare `git bisect run` goes on, skips a commit, or stops. No lab."""

from __future__ import annotations

import errno
import sys
from pathlib import Path
from typing import Any

import pytest

from harness.cli.commands import compare
from harness.cli.program import main
from harness.kernels import store
from harness.kernels.errors import KernelError
from plan.errors import InvalidTrialError, LabError, MissingError
from tests.small import write_tiny

TWO = "tcp.flavor=sack,reno"


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (KernelError("kernel x does not build"), 125),
        (OSError(errno.ENOSPC, "No space left on device", "flows.csv"), 129),
        (MissingError("no image"), 131),
        (LabError("the lab was killed", "its last words"), 132),
        (InvalidTrialError("1 trials are invalid"), 133),
        (ZeroDivisionError("a fault of ours"), 129),
    ],
)
def test_what_is_no_answer_stops_a_bisection(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    error: Exception,
    code: int,
) -> None:
    path = write_tiny(tmp_path)
    path.write_text(path.read_text().replace('flavor = ["SACK"]', 'tcp.flavor = ["sack", "reno"]'))

    def failing(*_: Any) -> None:
        raise error

    monkeypatch.setattr(compare, "execute", failing)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["cellbed", "compare", str(path), "--factor", TWO])
    try:
        found = main()
    except SystemExit as left:
        found = int(str(left.code))
    said = capsys.readouterr().err
    assert found == code and str(error.args[-1]) in said


@pytest.mark.parametrize("fraction", ["nan", "inf"])
def test_a_tolerance_is_a_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    fraction: str,
) -> None:  # fmt: skip
    """With NaN nothing would ever differ."""
    words = ["compare", str(write_tiny(tmp_path)), "--factor", TWO, "--tolerance", fraction]
    monkeypatch.setattr(sys, "argv", ["cellbed", *words])
    assert main() == 130
    said = f"cellbed: --tolerance {fraction}: must be a number of at least 0, such as 0.02\n"
    assert capsys.readouterr().err == said


def test_only_cannot_choose_the_levels_that_are_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_tiny(tmp_path)
    path.write_text(path.read_text().replace('flavor = ["SACK"]', 'tcp.flavor = ["sack", "reno"]'))
    monkeypatch.chdir(tmp_path)
    words = ["--factor", TWO, "--only", "tcp.flavor=sack"]
    monkeypatch.setattr(sys, "argv", ["cellbed", "compare", str(path), *words])
    assert main() == 130
    assert "--factor chooses the levels of tcp.flavor; leave this out" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["--zzz"], ["x.toml", "--kernel", "6.1"], []])
def test_wrong_words_stop_it_too(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (write_tiny(tmp_path)).rename(tmp_path / "x.toml")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["cellbed", "compare", *words])
    assert main() == 130


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ("tcp.c:7:1: error: expected declaration", 125),
        ("as: build/tcp.o: No space left on device", 4),
        ("gcc: fatal error: Killed signal terminated program cc1", 4),
    ],
)
def test_a_full_disk_is_no_fault_of_a_source(tmp_path: Path, said: str, code: int) -> None:
    (tmp_path / "log").write_text(f"  CC net/ipv4/tcp.o\n{said}\nmake: *** [tcp.o] Error 1\n")
    error = store.failed("path:x", tmp_path / "log")
    assert error.exit_code == code and said in str(error) and "\n" not in str(error)
