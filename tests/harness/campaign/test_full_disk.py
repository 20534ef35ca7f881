# SPDX-License-Identifier: GPL-2.0-only
"""A disk that gets full costs one sentence and nothing that was recorded."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.small import PROJECT

NAMESPACE = ("unshare", "--user", "--map-root-user", "--mount")


def test_a_disk_full_at_any_page_of_a_campaign(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(PROJECT)}
    done = subprocess.run(
        [*NAMESPACE, sys.executable, "-m", "tests.harness.campaign.full_disk", tmp_path],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "exit 1" in done.stdout and "exit 5" in done.stdout
