# SPDX-License-Identifier: GPL-2.0-only
"""Where bbr changed: each step between two kernels is paired by seed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from analysis.kept import Kept
from studies.kernel_cc import cause
from studies.kernel_cc.findings import CAUSE
from studies.kernel_cc.parting import FIXED_RATIO, NEW_LINE

DELAYS = {"6.1": 20.0, NEW_LINE: 20.1, FIXED_RATIO: 20.1, "6.12": 21.0}
"""The mean delay of each kernel [ms]; each seed adds its tenth."""


def kept_delays(folder: Path, delays: Mapping[str, float], missing: str = "") -> Kept:
    """Two seeds of each kernel; the second seed of one kernel may be missing."""
    head = "kernel,flavor,seed,trial,plan,digest,virtual_s,wall_s,ended,efficiency,queue_delay_ms"
    lines = [
        f"{kernel},bbr,{seed},t,p,d,1,1,2026-11-30,0.9,{delay + seed / 10}"
        for kernel, delay in delays.items()
        for seed in (1, 2)
        if (kernel, seed) != (missing, 2)
    ]
    (folder / CAUSE).mkdir()
    (folder / CAUSE / "trials.csv").write_text("\n".join([head, *lines, ""]))
    about = {"format": "cellbed-kept/1", "trials": len(lines), "left_out": 0}
    (folder / CAUSE / "manifest.json").write_text(json.dumps(about))
    return Kept(folder)


def test_the_steps_add_up_to_the_whole_change(tmp_path: Path) -> None:
    kept = kept_delays(tmp_path, DELAYS)
    numbers = cause.cause(kept)
    assert numbers["seeds"] == 2 and numbers["rest"] == 0
    assert numbers["part"] == pytest.approx(0.9)
    efficiency, queue = cause.table(kept).rows
    assert efficiency == ["efficiency", 2, "0", "0", "0", "0"]
    whole, line, ratio, rest = (str(value).split(" ±")[0] for value in queue[2:])
    assert (whole, line, ratio, rest) == ("+1", "+0.1", "+0.9", "0")


def test_what_both_patches_leave_is_shown(tmp_path: Path) -> None:
    kept = kept_delays(tmp_path, DELAYS | {FIXED_RATIO: 20.4})
    assert cause.cause(kept)["rest"] == pytest.approx(0.3)
    assert str(cause.table(kept).rows[1][-1]).startswith("+0.3 ±")


def test_a_seed_that_one_kernel_lacks_is_left_out_of_all_steps(tmp_path: Path) -> None:
    """A single seed has no interval."""
    kept = kept_delays(tmp_path, DELAYS, missing="6.1")
    assert cause.table(kept).rows[1][1:3] == [1, "+1"]
