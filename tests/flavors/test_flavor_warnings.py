# SPDX-License-Identifier: GPL-2.0-only
"""A sender of the papers leaves the kernel's scoreboard as the kernel expects it.

A trial ends when its kernel warns. In this trial, 98-0876R1's SACK begins a recovery while a
segment is SACKed that an earlier recovery sent again. The kernel warned when this segment counted
as lost.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.small import PROJECT

EXPERIMENT = "studies/ubrplus_1998/ubrplus-www.toml"
CELL = ("network=WAN", "flavor=SACK", "policy=SD", "buffer=0.5")
LIMIT_S = 600


@pytest.mark.lab
def test_sack_by_the_table_counts_no_segment_twice(tmp_path: Path) -> None:
    only = [word for level in CELL for word in ("--only", level)]
    argv = [str(PROJECT / "cellbed"), "run", EXPERIMENT, *only, "--out", str(tmp_path / "out")]
    done = subprocess.run(
        [*argv, "--seeds", "1"], cwd=PROJECT, capture_output=True, text=True, timeout=LIMIT_S,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
