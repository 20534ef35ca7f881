# SPDX-License-Identifier: GPL-2.0-only
"""A kernel that wants the same addresses in each run has them when it begins."""

from __future__ import annotations

import marshal
import os
import subprocess
import sys

import pytest

from harness.labs.supervised import SUPERVISOR
from harness.machine.doctor import ADDR_NO_RANDOMIZE, layout


@pytest.mark.skipif(layout().state != "ok", reason="personality() is refused here")
@pytest.mark.parametrize("fixed", [True, False])
def test_addresses_are_fixed_where_it_is_asked_for(fixed: bool) -> None:
    control, owner = os.pipe()
    said, report = os.pipe()
    told = {"control": control, "report": report, "one_core": False, "view": None, "must": False}
    words = marshal.dumps(told | {"fixed": fixed}).hex()
    argv = [sys.executable, "-IS", str(SUPERVISOR), words]
    done = subprocess.run(
        [*argv, "/bin/cat", "/proc/self/personality"], capture_output=True, text=True, check=False,
        pass_fds=(control, report), start_new_session=True, timeout=60,
    )  # fmt: skip
    for descriptor in (control, owner, said, report):
        os.close(descriptor)
    assert bool(int(done.stdout, 16) & ADDR_NO_RANDOMIZE) == fixed, done.stderr
