# SPDX-License-Identifier: GPL-2.0-only
"""A congestion control in BPF beside reno, in the uml lab: its kernel's build is slow."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from plan.errors import LabError
from tests.labs.test_own_module import kept
from tests.small import PROJECT

pytestmark = [
    pytest.mark.lab,
    pytest.mark.skipif("CELLBED_SLOW_TESTS" not in os.environ, reason="slow: CELLBED_SLOW_TESTS=1"),
]
SOURCE = (PROJECT / "tests" / "labs" / "mine.bpf.c").read_text()


def test_a_program_beside_reno_and_changed(tmp_path: Path) -> None:
    mine = tmp_path / "mine.bpf.c"
    mine.write_text(SOURCE)
    first = kept(tmp_path / "out", mine, "reno", "bpf_mine")
    assert first["reno"][1] == pytest.approx(1 / 2, abs=0.04)
    assert first["bpf_mine"][1] == pytest.approx(3 / 4, abs=0.04)
    mine.write_text(SOURCE.replace("* 3 / 4", "* 7 / 8"))
    second = kept(tmp_path / "out", mine, "bpf_mine")
    assert second["bpf_mine"][0] != first["bpf_mine"][0]
    assert second["bpf_mine"][1] == pytest.approx(7 / 8, abs=0.04)


def test_what_the_kernel_refuses_is_told(tmp_path: Path) -> None:
    mine = tmp_path / "mine.bpf.c"
    mine.write_text(SOURCE.replace("tp->snd_cwnd * 3 / 4", "*(__u32 *)0x1000"))
    with pytest.raises(LabError, match="refused mine.struct_ops.o: R1 invalid mem access .*0x1000"):
        kept(tmp_path / "out", mine, "bpf_mine")
