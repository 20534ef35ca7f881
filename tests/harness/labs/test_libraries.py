# SPDX-License-Identifier: GPL-2.0-only
"""What a lab's boundary has of this machine's C library."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.labs import uml


def test_a_machine_with_glibc_gives_it() -> None:
    assert {Path(name).name for name in uml.libraries()} >= {"libc.so.6", Path(uml.LOADER).name}


@pytest.mark.parametrize("absent", ["LIBRARY_FOLDERS", "LOADER"])
def test_a_machine_without_glibc_gives_nothing(
    absent: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Set-up's kernels are static, and so run there, too."""
    none = {"LIBRARY_FOLDERS": [tmp_path], "LOADER": str(tmp_path / "loader")}
    monkeypatch.setattr(uml, absent, none[absent])
    assert uml.libraries.__wrapped__() == []
