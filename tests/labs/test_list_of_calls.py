# SPDX-License-Identifier: GPL-2.0-only
"""A list of system calls gives the same as its calls one by one (patch 0025)."""

from __future__ import annotations

import errno
import json
from pathlib import Path

import pytest

from tests.labs.list_of_calls_inside import CASES
from tests.labs.test_uml import OFF, run_lab

pytestmark = pytest.mark.lab


def test_a_list_gives_the_same_as_single_calls(tmp_path: Path) -> None:
    inside = "python3 -B -m tests.labs.list_of_calls_inside"
    said = run_lab(tmp_path, f"cd /cellbed && {inside} && {OFF}")
    cases = [json.loads(line[5:]) for line in said.splitlines() if line.startswith("case ")]
    assert [name for name, *_ in cases] == [case.__name__ for case in CASES], said
    assert "refused" in said.split(), said
    alone = {name: single for name, single, _ in cases}
    assert {name: listed for name, _, listed in cases} == alone
    # The cases do what they say.
    assert alone["stops"][:-1] == [-errno.EBADF] * 2
    assert alone["sockets"][1:-1] == [0, -errno.EINVAL, -errno.ENETUNREACH, 0, -errno.EBADF]
    assert alone["many_failures"][-1] > 1_000_000
    assert alone["many_calls"][-1] > 1_000_000
    assert alone["waits"][-1] >= 12_000_000
    assert alone["signals"][0] == -errno.EINTR
    assert bytes(alone["others"][2:7]) == b"word!"
