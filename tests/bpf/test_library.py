# SPDX-License-Identifier: GPL-2.0-only
"""A machine that cannot compile the queue's core says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from plan.errors import MissingError
from topology import libcellq


def test_without_a_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingError, match="this machine has no make; install gcc, make and libc6"):
        libcellq.build(tmp_path)
