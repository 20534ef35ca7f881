# SPDX-License-Identifier: GPL-2.0-only
"""How the queues' programs run, where there are any, and what a report makes of it. No lab."""

from __future__ import annotations

import json

import pytest

from analysis.report.build import sets_of
from harness.agent.provenance import bpf_runs_as


@pytest.mark.parametrize(
    ("programs", "told"),
    [
        ([], {}),
        ([("cgroup_skb", False)], {}),
        ([("sched_cls", True), ("cgroup_skb", False)], {"bpf": "jit"}),
        ([("sched_cls", True), ("sched_cls", False)], {"bpf": "interpreter"}),
    ],
)
def test_without_a_program_nothing_is_said(
    programs: list[tuple[str, bool]], told: dict[str, str]
) -> None:
    shown = [{"type": kind, "jited": jited} for kind, jited in programs]
    assert bpf_runs_as(json.dumps(shown)) == told


def test_a_queue_without_programs_is_no_other_experiment() -> None:
    cells, drop_tail = {"kernel": "6.12", "bpf": "jit"}, {"kernel": "6.12"}
    assert sets_of([drop_tail, cells, drop_tail]) == [cells]
    other = cells | {"bpf": "interpreter"}
    older = {"kernel": "6.1"}
    assert sets_of([cells, other, drop_tail, older]) == [cells, other, older]
