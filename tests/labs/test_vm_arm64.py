# SPDX-License-Identifier: GPL-2.0-only
"""The vm lab with an ARM64 processor: a whole trial, twice.

With CELLBED_SLOW_TESTS=1 only: set-up makes what this lab needs in two to five minutes.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from harness.host import paths
from harness.labs.processors import OF_ARM64
from tests.labs.test_reproducible import assert_same_records
from tests.labs.test_vm import SHORT, run_in

pytestmark = [
    pytest.mark.lab,
    pytest.mark.skipif("CELLBED_SLOW_TESTS" not in os.environ, reason="slow: CELLBED_SLOW_TESTS=1"),
]
SET_UP_S = 3600


@pytest.fixture(scope="module", autouse=True)
def _set_up() -> None:
    command = [paths.PROJECT / "lab" / "setup", "--vm", "--arch", "arm64"]
    subprocess.run(command, check=True, timeout=SET_UP_S)


def test_the_same_trial_gives_the_same_bytes_on_arm64(tmp_path: Path) -> None:
    """Image, kernel, TCP module, programs and the queue's BPF program are of its processor."""
    [first], [again] = (
        run_in(OF_ARM64, tmp_path / name, "policy=EPD", **SHORT)
        for name in ("first", "again")
    )
    assert_same_records([first["trial"]], tmp_path / "first", tmp_path / "again")
    assert first["valid"] and again["valid"], [c for c in first["checks"] if not c["ok"]]
    assert first["versions"]["kernel"].endswith("-arm64")
    assert first["versions"]["bpf"] == "jit"
    assert "cellbed_sack" in json.dumps(first["tcp"])
    frames = first["queue"]["down"]["frames"]
    assert 0 < frames["delivered"] < frames["in"]
    assert first["software"]["image"].startswith("arm64-image-")
    assert "absent" not in first["software"].values()
