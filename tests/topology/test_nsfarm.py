# SPDX-License-Identifier: GPL-2.0-only
"""The holder of namespaces: where it may make none it ends, and says so."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.small import PROJECT

# Root without any capability is like anybody.
AS_ANYBODY = [] if os.geteuid() else ["setpriv", "--bounding-set=-all"]


@pytest.fixture(scope="module")
def nsfarm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("nsfarm") / "nsfarm"
    source = PROJECT / "topology" / "nsfarm.c"
    argv = ["cc", "-O2", "-Wall", "-Wextra", "-Werror", "-o", program, source]
    subprocess.run(argv, check=True, timeout=120)
    return program


@pytest.mark.parametrize(
    ("count", "status", "says"),
    [("3", 1, "nsfarm: unshare: "), ("0", 2, "usage: nsfarm"), ("4097", 2, "usage: nsfarm")],
)
def test_a_refusal_is_an_end(nsfarm: Path, count: str, status: int, says: str) -> None:
    done = subprocess.run(
        [*AS_ANYBODY, nsfarm, count], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout) == (status, "")
    assert done.stderr.startswith(says)
