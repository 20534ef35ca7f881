# SPDX-License-Identifier: GPL-2.0-only
"""What an older Linux does not have is named before a trial."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.design import experiment
from harness.design.trials import OwnKernel, planned
from plan.errors import UsageError
from plan.since import too_new
from tests.small import TINY, trials_of

CELLS = '{ policy = "plain", buffer_cells = 300 }'
DUAL = TINY.replace(CELLS, '{ kind = "dualpi2" }').replace('"sack"', '"dctcp"')
SAID = "queue dualpi2 (Linux 6.17), which queue.kind = dualpi2 needs"


def test_a_queue_of_a_newer_linux(tmp_path: Path) -> None:
    [trial] = trials_of(tmp_path, DUAL)
    assert too_new(trial.plan, "6.12") == SAID and too_new(trial.plan, "6.17") == ""


def test_accurate_ecn_is_of_a_newer_linux(tmp_path: Path) -> None:
    accurate = TINY.replace(CELLS, '{ kind = "codel" }').replace(
        'flavor = "sack"', 'flavor = ["cubic", "dctcp"], sysctl.tcp_ecn = 3'
    )
    [trial] = trials_of(tmp_path, accurate)
    said = "AccECN (Linux 6.18), which tcp.sysctl.tcp_ecn = 3 needs"
    assert too_new(trial.plan, "6.12") == said and too_new(trial.plan, "6.18") == ""


def test_the_labs_own_kernel_refuses_it(tmp_path: Path) -> None:
    [trial] = trials_of(tmp_path, DUAL)
    with pytest.raises(UsageError) as refused:
        OwnKernel("6.12").fitted(trial.plan)
    assert str(refused.value) == (
        f"the lab's own kernel 6.12 has no {SAID}; name a newer kernel with lab.kernel or --kernel"
    )
    assert OwnKernel().fitted(trial.plan) is trial.plan  # the native lab: it is not known


def test_the_line_of_the_queue_is_named(tmp_path: Path) -> None:
    path = tmp_path / "dual.toml"
    path.write_text(DUAL)
    with pytest.raises(UsageError) as refused:
        planned(experiment.load(path), path, kernels=lambda name, options: OwnKernel("6.12"))
    line = DUAL[: DUAL.index("dualpi2")].count("\n") + 1
    assert str(refused.value) == (
        f"{path}, line {line}: queue.kind = dualpi2: the lab's own kernel 6.12 has no queue dualpi2"
        " (Linux 6.17); name a newer kernel with lab.kernel or --kernel"
    )
