# SPDX-License-Identifier: GPL-2.0-only
"""How the queues' programs run, where there are any, and what a report makes of it. No lab."""

from __future__ import annotations

import pytest

from analysis.report.build import sets_of
from harness.agent import provenance
from harness.agent.provenance import bpf_runs_as
from topology.bpf import SCHED_CLS

CGROUP_SKB = 8  # BPF_PROG_TYPE_CGROUP_SKB


@pytest.mark.parametrize(
    ("programs", "told"),
    [
        ([], {}),
        ([(CGROUP_SKB, False)], {}),
        ([(SCHED_CLS, True), (CGROUP_SKB, False)], {"bpf": "jit"}),
        ([(SCHED_CLS, True), (SCHED_CLS, False)], {"bpf": "interpreter"}),
    ],
)
def test_without_a_program_nothing_is_said(
    programs: list[tuple[int, bool]], told: dict[str, str]
) -> None:
    assert bpf_runs_as(programs) == told


def test_a_queue_without_programs_is_no_other_experiment() -> None:
    cells, drop_tail = {"kernel": "6.12", "bpf": "jit"}, {"kernel": "6.12"}
    assert sets_of([drop_tail, cells, drop_tail]) == [cells]
    other = cells | {"bpf": "interpreter"}
    older = {"kernel": "6.1"}
    assert sets_of([cells, other, drop_tail, older]) == [cells, other, older]


def test_one_process_shows_the_qdiscs_of_all_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    """A device may have several qdiscs, with lines below each."""
    shown = [
        "qdisc tbf 1: root refcnt 2 rate 10Mbit\n Sent 3 bytes\nqdisc pie 2: parent 1:1 limit 9p",
        "qdisc fq 8001: root refcnt 2\n backlog 0b\nqdisc clsact ffff: parent ffff:fff1 \n Sent 0",
        "qdisc noqueue 0: root refcnt 2",
    ]
    asked = []

    def run(argv: list[str], stdin: str) -> str:
        asked.append((argv, stdin))
        return "".join(f"{one}\n" for one in shown)

    monkeypatch.setattr(provenance, "run", run)
    assert provenance.qdiscs(["a", "b", "c"]) == shown
    lines = "".join(f"qdisc show dev {device}\n" for device in "abc")
    assert asked == [(["tc", "-s", "-batch", "-"], lines)]
