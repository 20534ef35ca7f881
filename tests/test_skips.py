# SPDX-License-Identifier: GPL-2.0-only
"""Tests that are skipped without need are told as failures."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TEST = """
import pytest

@pytest.mark.skipif(True, reason={reason!r})
def test_one() -> None: ...

def test_two() -> None:
    pytest.skip({reason!r})
"""


@pytest.mark.parametrize(
    ("reason", "outcome"),
    [
        ("needs libbpf-dev", "1 failed, 1 error"),
        ("slow: CELLBED_SLOW_TESTS=1", "2 skipped"),
    ],
)
def test_a_skip_must_be_allowed(tmp_path: Path, reason: str, outcome: str) -> None:
    (tmp_path / "test_it.py").write_text(TEST.format(reason=reason))
    # Without a cache: its place is beside the configuration, /dev.
    plugins = ["-p", "skips", "-p", "no:cacheprovider"]
    argv = [sys.executable, "-m", "pytest", "-q", *plugins, "-c", "/dev/null", "."]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    done = subprocess.run(
        argv, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert outcome in done.stdout.splitlines()[-1], done.stdout
    assert "failed" not in outcome or reason in done.stdout
