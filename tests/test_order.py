# SPDX-License-Identifier: GPL-2.0-only
"""The order of the tests: groups together, the longest first, by what the last run measured."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.order import longest_first
from tests.small import PROJECT

SLOW = "import time\ndef test_a(): time.sleep(0.3)\ndef test_b(): pass\n"
QUICK = "def test_c(): pass\ndef test_d(): pass\n"


def test_the_longest_group_is_first_and_stays_together() -> None:
    groups = ["x", "y", "x", "z"]
    assert longest_first(groups, [1.0, 5.0, 1.0, None]) == [1, 0, 2, 3]
    assert longest_first(groups, [3.0, 5.0, 3.0, 5.5]) == [0, 2, 3, 1]


def test_unknown_ones_go_by_what_is_guessed() -> None:
    groups = ["tests/a.py", "finished", "tests/labs/test_vm.py"]
    assert longest_first(groups, [None, None, None]) == [2, 1, 0]


def test_a_second_run_begins_with_what_took_longest(tmp_path: Path) -> None:
    (tmp_path / "test_a_quick.py").write_text(QUICK)
    (tmp_path / "test_b_slow.py").write_text(SLOW)
    argv = [sys.executable, "-m", "pytest", "-v", "-n", "1", "--dist", "loadgroup",
            "--no-loadscope-reorder", "-p", "tests.order", "--rootdir", ".", "."]  # fmt: skip

    def order() -> list[str]:
        environment = {**os.environ, "PYTHONPATH": str(PROJECT)}
        done = subprocess.run(
            argv, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
        )
        lines = [line for line in done.stdout.splitlines() if "PASSED" in line]
        return [line.partition("::test_")[2][0] for line in lines]

    assert order() == ["c", "d", "a", "b"]
    assert order() == ["a", "b", "c", "d"]
