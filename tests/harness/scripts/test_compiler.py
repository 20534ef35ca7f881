# SPDX-License-Identifier: GPL-2.0-only
"""A lab's gcc: the image's, if it has one, with the option for older programs. No lab."""

from __future__ import annotations

import subprocess
from pathlib import Path

from harness.scripts import compiler


def test_gcc_is_called_with_the_option_and_cc_stays_missing_where_it_is(tmp_path: Path) -> None:
    real, before = tmp_path / "real", tmp_path / "before"
    real.mkdir()
    before.mkdir()
    (real / "gcc").write_text('#!/bin/sh\necho "$@"\n')
    (real / "gcc").chmod(0o755)
    compiler.install(real, before)
    assert [path.name for path in before.iterdir()] == ["gcc"]
    argv = [str(before / "gcc"), "-o", "a program", "a.c"]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    assert done.stdout == "-fpermissive -o a program a.c\n"
