# SPDX-License-Identifier: GPL-2.0-only
"""ns-3 beside the kernel: what it is given of a plan, what it makes of it, and what is kept."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from analysis.errors import RecordError
from harness.design import experiment
from harness.design.trials import planned
from harness.judge import studies
from plan.plan import Plan
from studies.ubrplus_1998.ns3 import options, program, witness
from workload import www

FOLDER = studies.folder("ubrplus_1998")


def plans(*only: str) -> list[Plan]:
    path = FOLDER / "ubrplus-www-rfc.toml"
    return [trial.plan for trial in planned(experiment.load(path), path, only, seeds=1)]


def test_options_are_those_of_the_plan() -> None:
    (plan,) = plans("network=MEO", "policy=SD", "buffer=1", "flavor=SACK")
    found = options.options(plan)
    assert (found["pairs"], found["rate"], found["delay_s"]) == (100, 45_000_000, 0.1)
    assert (found["policy"], found["room"], found["threshold"]) == ("sd", 21_230, 16_984)
    assert (found["sack"], found["mss"], found["window"], found["z"]) == (1, 9180, 2_097_120, 0.8)
    assert (found["tick_s"], found["rto_min_s"]) == (0.1, 0.2)


def test_the_schedule_is_the_kernels() -> None:
    (plan,) = plans("network=MEO", "policy=SD", "buffer=1", "flavor=SACK")
    size, first, *rest = options.lines(plan)
    assert size == "128\n"
    assert len(rest) + 1 == len(options.requests(plan)) > 4000
    one = options.requests(plan)[0]
    header = len("113") + 113 - 3 + len(str(one.size_bytes))
    assert first == f"{one.pair} {one.due_ns} {header} {one.size_bytes}\n"


def test_a_sender_that_ns_3_has_not_is_left_out() -> None:
    (plan,) = plans("network=MEO", "policy=SD", "buffer=1", "flavor=Reno")
    assert witness.run(plan, Path(), witness.PLAN) is None


@pytest.mark.parametrize(
    "text", ["", "received 5 0\n", "received 5 0\nreceived 5 0\nqueue 3 1 9\nqueue 3 1 9\n"]
)
def test_an_outcome_that_is_not_whole_is_refused(text: str) -> None:
    with pytest.raises(RecordError, match="not of 2"):
        program.outcome(text, 2)


def test_an_outcome_is_read() -> None:
    found = program.outcome("received 5 1\nreceived 7 0\nqueue 30 2 9\n", 2)
    assert found == program.Outcome((5, 7), (1, 0), 30, 2, 9)


@pytest.mark.skipif("CELLBED_SLOW_TESTS" not in os.environ, reason="slow: CELLBED_SLOW_TESTS=1")
def test_a_link_without_losses_brings_all_bytes_and_a_small_queue_drops_some() -> None:
    """Two pairs ask once over the MEO path. It needs Debian's g++ and libns3-dev."""
    (plan,) = plans("network=MEO", "policy=EPD", "buffer=2", "flavor=SACK")
    assert isinstance(plan.workload, www.Parameters)
    short = replace(
        plan,
        topology=replace(plan.topology, pairs=2),
        workload=replace(plan.workload, duration_s=30.0, period_s=1000.0),
    )
    asked = [0, 0]
    for one in options.requests(short):
        header = options.nginx_header_bytes(one.size_bytes)
        asked[one.pair - 1] += header + one.size_bytes
    wanted = options.options(short)
    whole = program.run(options.lines(short), wanted)
    assert list(whole.received_bytes) == asked and min(asked) > 0
    assert whole.dropped == sum(whole.timeouts) == 0
    small = program.run(options.lines(short), {**wanted, "room": 400, "threshold": 200})
    assert small.dropped > 0 and small.most_cells <= 400
