# SPDX-License-Identifier: GPL-2.0-only
"""A wait in a lab ends at its moment, and not together with another timer (patch 0022)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.labs.exact_waits_inside import WAIT_S, waits
from tests.labs.test_uml import OFF, run_lab

pytestmark = pytest.mark.lab


# The kernel rounds a wait up, and allows the program's slack of 1 ns.
ROUNDED_NS = 2


def test_no_wait_ends_with_the_next_timer(tmp_path: Path) -> None:
    said = run_lab(tmp_path, f"cd /cellbed && python3 -B -m tests.labs.exact_waits_inside && {OFF}")
    late = {
        name: int(ns) - WAIT_S * 1_000_000_000
        for name, ns in re.findall(r"(\w+) took (\d+) ns", said)
    }
    assert late.keys() == waits().keys(), said
    assert all(0 <= ns <= ROUNDED_NS for ns in late.values()), late
