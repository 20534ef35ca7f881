# SPDX-License-Identifier: GPL-2.0-only
"""What Mininet scripts use of a kernel works in their lab: features.py tells, once for all."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from tests.small import PROJECT

pytestmark = pytest.mark.lab

LIMIT_S = 600.0
# By its own account, as features.py returns it.
RIGHT = {
    "nat": [0, 1, 1],
    "nftables": [0, 1, 1],
    "bridge": [3, 1, 1, 1, 0, 1, 0],
    "ipv6": [0, 1],
    "tunnels": [1, 1, 1, 1],
    "filters": [2, 1],
    "queues": [],
    "policy": True,
    "limited": [50000, True, True, 0],
    "trace": [True, True, True],
    "tcpprobe": [True, True, []],
    "mptcp": 1.0,
    "tun": 1,
    "congestion": True,
    "modules": [[], [], 1],
    "ipc": [4, "5"],
}


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> subprocess.CompletedProcess[str]:
    folder = tmp_path_factory.mktemp("features")
    (folder / "features.py").write_bytes((PROJECT / "tests/labs/features.py").read_bytes())
    return subprocess.run(
        [sys.executable, "-m", "harness", "mininet", "--limit", "300", "features.py"],
        capture_output=True, text=True, timeout=LIMIT_S, cwd=folder,
        env={**os.environ, "PYTHONPATH": str(PROJECT)}, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("name", RIGHT)
def test_a_script_has_what_it_uses(said: subprocess.CompletedProcess[str], name: str) -> None:
    results: dict[str, Any] = dict(map(json.loads, said.stdout.splitlines()))
    assert results.get(name) == RIGHT[name], said.stderr


def test_a_share_of_the_processor_is_told_to_be_none_once(
    said: subprocess.CompletedProcess[str],
) -> None:
    assert said.stderr.count("so a share of the processor limits nothing") == 1
    assert said.stderr.count("the lab has one processor, so all hosts use the same core") == 1
