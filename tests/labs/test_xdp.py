# SPDX-License-Identifier: GPL-2.0-only
"""XDP beside a congestion control in BPF (patch 3001): both need pages of one room.

An attached XDP program keeps a page for as long as the lab lives. Each registration of a congestion
control takes a page for a moment. The kernel of these programs is built: slow.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from harness.kernels import store
from tests.labs.test_uml import OFF, run_lab
from tests.small import PROJECT

pytestmark = [
    pytest.mark.lab,
    pytest.mark.skipif("CELLBED_SLOW_TESTS" not in os.environ, reason="slow: CELLBED_SLOW_TESTS=1"),
]
NAME = f"6.12,module={PROJECT / 'tests' / 'labs' / 'mine.bpf.c'}"
# Which of both pairs answers, and how many bytes arrive from the sender.
STEPS = {
    "nothing attached": "answered [True, True], arrived 0",
    "one attached": "answered [False, True], arrived 0",
    "registered": "answered [False, True], arrived 50000",
    "two attached, registered again": "answered [False, False], arrived 50000",
    "one detached": "answered [True, False], arrived 50000",
}


def test_xdp_keeps_its_page_while_trampolines_are_measured(tmp_path: Path) -> None:
    kernel = store.ready(NAME)
    assert kernel is not None
    inside = f"cd /cellbed && python3 -B -m tests.labs.xdp_inside && {OFF}"
    run_lab(tmp_path, inside, kernel=kernel.folder)
    said = (tmp_path / "console.log").read_text(errors="replace").replace("\r", "")
    assert dict(re.findall(r"step (.*): (answered .*)", said)) == STEPS, said
    assert "WARNING:" not in said and "BUG:" not in said, said
