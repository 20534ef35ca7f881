# SPDX-License-Identifier: GPL-2.0-only
"""A queue that a lab's kernel does not have is refused in a line, before a lab starts."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from harness.design import experiment
from harness.design.trials import planned
from harness.labs.layers import layer_of
from plan.errors import UsageError
from plan.plan import QUEUES
from tests.small import PROJECT
from topology.qdisc import QdiscQueue

EXPERIMENT = """
name = "small"
title = "small"
[factors]
topology.pairs = [2]
[base]
topology = { pairs = 2, rate_bit_per_s = 10_000_000, delay_us = 5_000, mss_bytes = 1024 }
queue = { QUEUE, limit_packets = 50 }
tcp = { flavor = "sack", window_bytes = 65_535, ssthresh_bytes = 12_500 }
workload = { kind = "iperf", duration_s = 2 }
"""
RED = 'kind = "adaptive-red"'
NS2 = 'kind = "adaptive-red-ns2"'
STOCK = ("vm", "vm-arm64", "native")
# In Debian's kernel itself; lab/vm/modules need not name them.
BUILT_IN = {"fq_codel", "pfifo"}


def plan_for(lab: str, folder: Path, queue: str) -> None:
    """Plan the trial for a lab, as a run does before it starts one."""
    path = folder / "small.toml"
    path.write_text(EXPERIMENT.replace("QUEUE", queue))
    planned(experiment.load(path), path, layers=partial(layer_of, lab))


@pytest.mark.parametrize("lab", STOCK)
@pytest.mark.parametrize(
    ("queue", "says"),
    [
        (f"{RED}, gentle = true", "queue.gentle = true: only the patched kernel of the lab uml"),
        (NS2, "queue.kind = adaptive-red-ns2: only the lab uml has the module sch_red_ns2"),
    ],
)
def test_what_only_the_uml_lab_has(lab: str, queue: str, says: str, tmp_path: Path) -> None:
    plan_for("uml", tmp_path, queue)
    with pytest.raises(UsageError, match=rf"small.toml, .*{says}.*; leave out --lab") as caught:
        plan_for(lab, tmp_path, queue)
    assert len(str(caught.value).splitlines()[0]) < 200


@pytest.mark.parametrize("lab", STOCK)
def test_the_stock_kernels_own_red(lab: str, tmp_path: Path) -> None:
    plan_for(lab, tmp_path, f"{RED}, ecn = true, drop_above_max = true")


def test_the_vm_lab_loads_the_disciplines_of_all_other_queues() -> None:
    """Nothing is loaded later. A queue with `since` needs a newer kernel than Debian's."""
    lines = (PROJECT / "lab" / "vm" / "modules").read_text().splitlines()
    loaded = {line.partition("#")[0].strip() for line in lines}
    queues = [kind.Queue for kind in QUEUES.kinds.values()]
    wanted = {
        queue.kind
        for queue in queues
        if issubclass(queue, QdiscQueue) and not (queue.module or queue.since)
    }
    assert {"red", "cake", "fq_codel"} <= wanted
    assert {f"sch_{kind}" for kind in wanted - BUILT_IN} <= loaded
