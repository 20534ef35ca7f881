# SPDX-License-Identifier: GPL-2.0-only
"""The vm lab: a trial on the stock kernel agrees with the uml lab's; a panic is an error.

About two minutes under TCG; skipped unless `lab/setup --vm` has been run.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from small import PROJECT

from harness import experiment, paths, plan
from harness.campaign import Campaign, Options
from harness.errors import LabError
from harness.labs import LabSpec, VmLab
from harness.labs.vm import QEMU

pytestmark = [
    pytest.mark.lab,
    pytest.mark.skipif("CELLBED_SLOW_TESTS" not in os.environ, reason="slow: CELLBED_SLOW_TESTS=1"),
    pytest.mark.skipif(
        not (paths.places()["vm"] / "complete").exists() or shutil.which(QEMU) is None,
        reason="the vm lab is not set up: lab/setup --vm",
    ),
]

FILE = PROJECT / "experiments" / "three-labs.toml"
# The two labs' processors differ, and so do the runs; docs/labs.md has the spread.
EFFICIENCY_LIMIT = 0.04
FAIRNESS_LIMIT = 0.01


def run_in(lab: str, folder: Path) -> dict:
    """The EPD trial of three-labs in a lab, in virtual time."""
    trials = plan.trials(experiment.load(FILE), FILE, ["policy=EPD"], 1, lab)
    options = Options(lab=lab, clock="virtual", jobs=1)
    campaign = Campaign(folder, trials, {"name": "three-labs"}, options, lambda *_: None)
    documents = campaign.run()
    assert not campaign.failures, campaign.failures
    return documents[trials[0].name]


def test_the_stock_kernel_agrees_with_uml(tmp_path: Path) -> None:
    stock, uml = run_in("vm", tmp_path / "vm"), run_in("uml", tmp_path / "uml")
    assert stock["valid"], [c for c in stock["checks"] if not c["ok"]]
    assert stock["versions"]["kernel"].endswith("-amd64")
    assert (stock["versions"]["bpf"], uml["versions"]["bpf"]) == ("jit", "interpreter")
    assert "cellbed_sack" in json.dumps(stock["tcp"])
    assert {"stalls", "late departures"} <= {c["name"] for c in stock["checks"]}
    ours, theirs = stock["metrics"], uml["metrics"]
    assert ours["efficiency"] == pytest.approx(theirs["efficiency"], abs=EFFICIENCY_LIMIT)
    assert ours["fairness"] == pytest.approx(theirs["fairness"], abs=FAIRNESS_LIMIT)


def test_a_panic_is_an_error_with_the_console(tmp_path: Path) -> None:
    main = "echo c > /proc/sysrq-trigger"
    with (
        pytest.raises(LabError, match="status 1") as caught,
        VmLab(LabSpec(pairs=1, main=main), tmp_path) as lab,
    ):
        for _ in lab.events():
            pass
    assert "sysrq" in caught.value.console
