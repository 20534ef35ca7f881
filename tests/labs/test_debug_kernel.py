# SPDX-License-Identifier: GPL-2.0-only
"""A kernel with KASAN and lockdep ends a trial with what it found. Each test builds one: slow."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from harness.api.experiment import Experiment
from plan.errors import LabError
from tests import own_module
from tests.labs.test_own_module import BESIDE

pytestmark = [
    pytest.mark.lab,
    pytest.mark.skipif("CELLBED_SLOW_TESTS" not in os.environ, reason="slow: CELLBED_SLOW_TESTS=1"),
]
HALVES = "return max("
READS_FREED = "u32 *gone = kmalloc(64, GFP_ATOMIC);\n\tkfree(gone);\n\tWRITE_ONCE(*gone, 1);\n\t"
# Two locks, taken in one order and then in the other.
LOCKS = "static DEFINE_SPINLOCK(one);\nstatic DEFINE_SPINLOCK(two);\n"
BOTH_ORDERS = (
    "spin_lock(&one);\n\tspin_lock(&two);\n\tspin_unlock(&two);\n\tspin_unlock(&one);\n\t"
    "spin_lock(&two);\n\tspin_lock(&one);\n\tspin_unlock(&one);\n\tspin_unlock(&two);\n\t"
)
FAULTS = {
    "freed": (own_module.SOURCE.replace(HALVES, READS_FREED + HALVES),
              "BUG: KASAN: slab-use-after-free in .*tcp_mine"),
    "locks": (own_module.SOURCE.replace("static u32", LOCKS + "static u32", 1)
              .replace(HALVES, BOTH_ORDERS + HALVES),
              "WARNING: possible circular locking dependency detected"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_report_ends_the_trial(fault: str, tmp_path: Path) -> None:
    source, said = FAULTS[fault]
    mine = own_module.write(tmp_path / "mine", source)
    with pytest.raises(LabError, match=f"the lab's kernel complained: {said}"):
        Experiment.from_text(BESIDE).run(
            tmp_path / "out", module=str(mine), only={"flavor": ["gentle"]}, jobs=1,
            debug=["kasan", "lockdep", "symbols"], progress=False,
        )  # fmt: skip


def test_without_a_fault_the_trial_is_valid(tmp_path: Path) -> None:
    campaign = Experiment.from_text(BESIDE).run(
        tmp_path / "out", jobs=1, debug=["kasan", "lockdep", "symbols"], progress=False
    )
    [trial] = campaign.records.trials
    assert trial.factors["flavor"] == "reno"
