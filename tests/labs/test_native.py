# SPDX-License-Identifier: GPL-2.0-only
"""The native lab inside the vm: ended in every way it leaves nothing behind.

Two to five minutes under TCG; run with CELLBED_SLOW_TESTS=1 after lab/setup --vm.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from harness.captures import pcap
from harness.design import experiment
from harness.design.trials import planned
from harness.host import paths
from harness.labs import LabSpec, NativeLab, VmLab
from harness.labs.supervised import wait_for_exit
from harness.labs.vm import QEMU
from plan.errors import UsageError
from plan.plan import to_json
from tests.small import PROJECT

FILE = PROJECT / "studies" / "instrument" / "three-labs.toml"
LIMIT_S = 1200.0
# ending -> exit status of what owned the lab
ENDINGS = {"success": 0, "shell": 0, "error": 0, "interrupt": -2, "kill": -9}

ready = (paths.places()["vm"] / "complete").exists() and shutil.which(QEMU) is not None


def test_a_virtual_clock_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--clock real"), NativeLab(LabSpec(pairs=1), tmp_path):
        pass


@pytest.mark.lab
@pytest.mark.skipif(not ready, reason="the vm lab is not set up: lab/setup --vm")
@pytest.mark.skipif("CELLBED_SLOW_TESTS" not in os.environ, reason="slow: CELLBED_SLOW_TESTS=1")
def test_nothing_is_left_behind(tmp_path: Path) -> None:
    captured = experiment.with_captures(experiment.load(FILE), ["down"])
    trial = planned(captured, FILE, ["policy=EPD"], 1, "native")[0]
    (tmp_path / "plan.json").write_text(json.dumps(to_json(trial.plan)))
    (tmp_path / "endings").write_text(" ".join(ENDINGS))
    main = "exec /cellbed/tests/labs/native_in_vm"
    with VmLab(LabSpec(pairs=1, clock="real", main=main), tmp_path) as lab:
        wait_for_exit(lab, LIMIT_S)
    found = [json.loads(line) for line in (tmp_path / "native.jsonl").read_text().splitlines()]
    assert {row["ending"]: row["status"] for row in found} == ENDINGS
    for row in found:
        assert not any(row["left"].values()), row
        assert not any(row["gone"].values()), row
        assert bool(row["cleaned"]) == (row["ending"] == "kill")
    lab_json = json.loads((tmp_path / "lab.json").read_text())
    assert lab_json["versions"]["bpf"] == "jit"
    assert pcap.Capture.missing(lab_json) == 0
    assert lab_json["capture"]["ports"]["down"]
    shell = next(row["said"] for row in found if row["ending"] == "shell")
    assert "1 received" in shell and "qdisc clsact" in shell
