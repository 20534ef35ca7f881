# SPDX-License-Identifier: GPL-2.0-only
"""The native lab on a machine that lacks what set-up installs for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.labs import native
from plan.errors import MissingError


def test_a_machine_without_kmod_is_told_what_installs_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(native, "MODINFO", tmp_path / "modinfo")
    with pytest.raises(MissingError, match=r"modinfo does not exist; run .*setup --native"):
        native.fits(tmp_path / "module.ko")
