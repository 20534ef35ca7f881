# SPDX-License-Identifier: GPL-2.0-only
"""The holder of namespaces: they last as long as it does; where it may make none it says so."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from tests.small import PROJECT

# Root without any capability is like anybody.
AS_ANYBODY = [] if os.geteuid() else ["setpriv", "--bounding-set=-all"]
AS_ROOT = ["unshare", "--user", "--map-root-user"] if os.geteuid() else []
END_S = 30.0


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


def runs(pid: int) -> bool:
    """Whether a process is there, and not only waited for by a parent that never asks."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] != "Z"
    except OSError:
        return False


def test_each_holder_has_a_namespace_and_ends_with_the_farm(nsfarm: Path) -> None:
    with subprocess.Popen([*AS_ROOT, nsfarm, "3"], stdout=subprocess.PIPE, text=True) as farm:
        assert farm.stdout is not None
        pids = [int(line) for line in iter(farm.stdout.readline, "\n")]
        spaces = [os.readlink(f"/proc/{pid}/ns/net") for pid in ("self", *pids)]
        farm.kill()
    assert len(pids) == 3 and len(set(spaces)) == 4
    end = time.monotonic() + END_S
    while any(map(runs, pids)):
        assert time.monotonic() < end, pids
        time.sleep(0.01)
