# SPDX-License-Identifier: GPL-2.0-only
"""A congestion control of a person's own beside Linux's: built, loaded, used, and built again."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from harness.api.experiment import Experiment
from harness.kernels.errors import KernelError
from plan.errors import LabError
from tests import own_module

pytestmark = pytest.mark.lab
UNLIMITED = 1_000_000_000
BESIDE = """
name = "beside"
title = "a module beside reno"
[factors]
flavor = ["reno"]
[base]
topology = { pairs = 1, rate_bit_per_s = 5_000_000, delay_us = 20_000, mss_bytes = 1460 }
queue = { kind = "drop-tail", limit_packets = 14 }
tcp = { window_bytes = 262_140, ssthresh_bytes = 1_000_000_000 }
workload = { kind = "iperf", duration_s = 4 }
record = { cwnd_sample_ms = 20, cwnd_pairs = [1] }
[[rule]]
when = { flavor = "reno" }
set = { tcp.flavor = "linux-reno" }
"""


def kept(out: Path, module: Path, *flavors: str) -> dict[str, tuple[str, float]]:
    """Of each flavor its trial's name, and what part of the window its last loss leaves."""
    campaign = Experiment.from_text(BESIDE).run(
        out, module=str(module), only={"flavor": flavors}, jobs=1, progress=False
    )
    found = {}
    for trial in campaign.records.trials:
        rows = [
            (float(row["cwnd_segments"] or 0), float(row["ssthresh_segments"] or 0))
            for row in trial.series("cwnd") or ()
        ]
        losses = [
            after / window
            for (window, before), (_, after) in pairwise(rows)
            if before != after and max(before, after) < UNLIMITED
        ]
        found[str(trial.factors["flavor"])] = trial.name, losses[-1]
    return found


def test_a_module_beside_reno_and_changed(tmp_path: Path) -> None:
    mine = own_module.write(tmp_path / "mine")
    first = kept(tmp_path / "out", mine, "reno", "gentle")
    assert first["reno"][1] == pytest.approx(1 / 2, abs=0.04)
    assert first["gentle"][1] == pytest.approx(3 / 4, abs=0.04)
    own_module.write(mine, own_module.SOURCE.replace("* 3 / 4", "* 7 / 8"))
    second = kept(tmp_path / "out", mine, "reno", "gentle")
    assert second["reno"] == first["reno"]
    assert second["gentle"][0] != first["gentle"][0]
    assert second["gentle"][1] == pytest.approx(7 / 8, abs=0.04)


def test_what_does_not_compile_or_load_is_told(tmp_path: Path) -> None:
    wrong = own_module.SOURCE.replace("return max(", "return maximum(")
    mine = own_module.write(tmp_path / "mine", wrong)
    with pytest.raises(KernelError, match="does not build: .*tcp_mine.c:7:.* 'maximum'"):
        kept(tmp_path / "out", mine, "gentle")
    own_module.write(
        mine, '#define CALLED "smooth"\n' + own_module.SOURCE.replace('"gentle"', "CALLED")
    )
    with pytest.raises(LabError, match="no congestion control mine but .*smooth"):
        kept(tmp_path / "out", mine, "mine")
    own_module.write(
        mine, own_module.SOURCE.replace("return tcp_register", "return -EPERM ? : tcp_register")
    )
    with pytest.raises(LabError, match="did not take the module /opt/cellbed/tcp_mine.ko"):
        kept(tmp_path / "out", mine, "gentle")
