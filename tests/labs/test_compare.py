# SPDX-License-Identifier: GPL-2.0-only
"""./cellbed compare on real trials: the same, different, and by less than a tolerance."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from harness.cli.commands.compare import command
from plan.errors import UsageError
from tests.small import PROJECT, TINY

# Without ECN the sysctl means nothing: the plans differ, and not one byte of the records does.
LEVELS = """
[[rule]]
when = { flavor = "same" }
set = { tcp.sysctl.tcp_ecn_fallback = 1 }
[[rule]]
when = { flavor = "larger" }
set = { tcp.initial_window_segments = 2 }
"""


def written(folder: Path) -> Path:
    """The experiment, in a folder."""
    path = folder / "tiny.toml"
    path.write_text(TINY.replace('["SACK"]', '["SACK", "same", "larger"]') + LEVELS)
    return path


def compare(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    written(folder)
    return subprocess.run(
        [sys.executable, "-m", "harness", "compare", "tiny.toml", *words], capture_output=True,
        text=True, timeout=600, cwd=folder, env={**os.environ, "PYTHONPATH": str(PROJECT)},
        check=False,
    )  # fmt: skip


@pytest.mark.lab
def test_levels_that_are_the_same_and_such_as_are_not(tmp_path: Path) -> None:
    same = compare(tmp_path, "--factor", "flavor=SACK,same")
    assert same.returncode == 0, same.stderr
    assert same.stdout.splitlines()[1] == "byte-identical"
    other = compare(tmp_path, "--factor", "flavor=SACK,larger")
    assert other.returncode == 1, other.stderr
    assert "first difference is segment" in other.stdout and "\neff." in other.stdout
    within = compare(tmp_path, "--factor", "flavor=SACK,larger", "--tolerance", "0.5")
    assert within.returncode == 0 and within.stdout == other.stdout


@pytest.mark.parametrize("factor", ["flavor=SACK", "flavor=SACK,none", "x=1,2", "flavor=SACK,SACK"])
def test_wrong_levels(tmp_path: Path, factor: str) -> None:
    done = CliRunner().invoke(command, [str(written(tmp_path)), "--factor", factor])
    assert isinstance(done.exception, UsageError) and "\n" not in str(done.exception)
    assert str(done.exception).startswith(f"--factor {factor}: ")
