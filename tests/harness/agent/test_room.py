# SPDX-License-Identifier: GPL-2.0-only
"""Memory that holds nothing goes back to the host, and the lab may have it again."""

from __future__ import annotations

import json
from typing import Any

import pytest

from harness.labs.base import LabSpec
from harness.labs.uml import UmlLab, wait_for_exit
from tests.harness.agent.room_in_lab import FILLED_MIB, FREE_MIB

LIMIT_S = 300.0
PAGES_PER_MIB, BLOCK_MIB = 256, 4

pytestmark = pytest.mark.lab


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the script says of a lab."""
    folder = tmp_path_factory.mktemp("room")
    script = "/cellbed/tests/harness/agent/room_in_lab.py"
    main = f"exec python3 -B {script} /run/cellbed/result.json"
    with UmlLab(LabSpec(pairs=0, memory_mib=512, main=main), folder) as lab:
        wait_for_exit(lab, LIMIT_S)
    result: dict[str, Any] = json.loads((folder / "result.json").read_text())
    return result


def test_pages_of_zeros_go_back_and_no_byte_changes(found: dict[str, Any]) -> None:
    assert found["first"][0] >= 16 * PAGES_PER_MIB, "half of 32 MiB were zeros"
    assert found["first content"]


def test_the_module_keeps_blocks_until_so_much_is_free_as_asked(found: dict[str, Any]) -> None:
    assert found["first"][1] >= (found["free before"] - 32 - FREE_MIB) // BLOCK_MIB * 0.8
    assert found["free"] >= FREE_MIB


def test_the_kernel_gets_kept_blocks_when_it_runs_short(found: dict[str, Any]) -> None:
    """It gets more than was free, and the descriptions of their pages are as if never away."""
    assert found["free"] < FILLED_MIB, "the lab had no need of kept blocks"
    assert found["second content"]
    assert found["blocks when full"] < found["first"][1]


def test_freed_pages_go_back_and_can_be_used_again(found: dict[str, Any]) -> None:
    assert found["second"][0] >= 0.8 * FILLED_MIB * PAGES_PER_MIB
    assert found["third content"]
