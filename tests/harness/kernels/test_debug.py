# SPDX-License-Identifier: GPL-2.0-only
"""What --debug asks a kernel for, and where it and --gdb are refused. No kernel is built."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from harness.api.experiment import Experiment
from harness.kernels import debug
from harness.labs import debugger
from plan.errors import UsageError
from tests.small import TINY


def test_each_option_is_named_once() -> None:
    found = debug.options(["lockdep", "symbols"])
    assert found == ["DEBUG_KERNEL", "PROVE_LOCKING", "DEBUG_INFO_DWARF_TOOLCHAIN_DEFAULT"]


def test_an_unknown_word_is_told_with_what_is_near() -> None:
    said = "--debug: kasn: no such word; it must be one of kasan, lockdep, symbols; did you mean"
    with pytest.raises(UsageError, match=re.escape(f"{said} kasan?")):
        debug.options(["kasn"])


@pytest.mark.parametrize(
    ("option", "given"), [("--debug", {"debug": ["kasan"]}), ("--gdb", {"gdb": "tcp_ack"})]
)
def test_other_labs_have_kernels_that_nobody_builds(
    option: str, given: dict[str, object], tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=f"^{option} works only in the uml lab of this machine"):
        Experiment.from_text(TINY).prepare(tmp_path, lab="vm", **given)


def test_gdb_passes_on_the_signals_that_the_kernel_lives_on() -> None:
    lines = debugger.commands(17, Path("/x/linux"), "tcp_ack").splitlines()
    assert lines[-2:] == ["break tcp_ack", "continue"]
    assert lines.index("attach 17") < lines.index("handle SIGSEGV nostop noprint pass")
    assert lines.index("file /x/linux") < lines.index("attach 17")
