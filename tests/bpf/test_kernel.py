# SPDX-License-Identifier: GPL-2.0-only
"""The queue in this machine's own kernel, JIT-compiled, two CPUs at once.

Needs root, clang, libbpf's headers and a kernel with clsact and veth; skipped
where one is missing. Everything happens in namespaces that end with the test.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import libcellq
import pytest
import replay
from libcellq import POLICIES

BURSTS = 1500


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that one run of stress.sh over all policies left."""
    missing = [tool for tool in ("clang", "cc", "make", "ip", "unshare") if not shutil.which(tool)]
    if os.geteuid() != 0 or missing or not Path("/usr/include/bpf/libbpf.h").exists():
        pytest.skip(f"needs root, libbpf-dev and {missing or 'no other tool'}")
    build, out = tmp_path_factory.mktemp("build"), tmp_path_factory.mktemp("out")
    here = Path(__file__).parent
    subprocess.run(["make", "-s", "-C", libcellq.SOURCE, f"OUT={build}", "all"], check=True)
    cc = ["cc", "-O2", "-Wall", str(here / "stress.c"), "-o", str(build / "stress"), "-lbpf"]
    subprocess.run(cc, check=True)
    words = [str(here / "stress.sh"), str(build), str(out), str(BURSTS), *POLICIES]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
    if "Operation not permitted" in done.stderr or "Unknown device type" in done.stderr:
        pytest.skip(f"this kernel does not let us: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr
    return out


@pytest.mark.parametrize("policy", POLICIES)
def test_concurrent_hooks_equal_the_reference(records: Path, policy: str) -> None:
    """Whatever the order in which two CPUs got the lock, it was a valid one."""
    recording = replay.read(records / f"{policy}.rec")
    said = json.loads((records / f"{policy}.json").read_text())
    assert said["faults_total"] == 0
    assert len(recording.frames) == said["frames"]["in"] > BURSTS
    assert 0 < said["frames"]["delivered"] < said["frames"]["in"]
    assert list(replay.differences(recording, replay.simulate(recording))) == []
