# SPDX-License-Identifier: GPL-2.0-only
"""lab.receiver_kernel: what it changes in a trial, and what it refuses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.design import experiment
from harness.design.trials import OwnKernel, TrialKernel, planned
from plan.errors import UsageError
from plan.plan import Plan
from tests.small import TINY, write_small

TEXT = TINY.replace('policy = "plain", buffer_cells = 300', 'kind = "drop-tail", limit_packets = 9')
LINKED = TEXT + 'lab.receiver_kernel = "6.1"\n'


@dataclass(frozen=True)
class Made:
    """A kernel that is its name."""

    name: str

    @property
    def folder(self) -> Path:
        return Path(self.name)

    @property
    def identity(self) -> str:
        return self.name

    def fitted(self, wanted: Plan) -> Plan:
        return wanted


def kernels(name: str | None, options: Sequence[str] = (), *, linked: bool = False) -> TrialKernel:
    return Made(f"{name} linked") if linked else OwnKernel()


def names(folder: Path, text: str) -> list[str]:
    path = write_small(folder, text)
    return [trial.name for trial in planned(experiment.load(path), path, kernels=kernels)]


def test_both_kernels_have_the_wire_and_are_in_the_name(tmp_path: Path) -> None:
    path = write_small(tmp_path, LINKED)
    [trial] = planned(experiment.load(path), path, kernels=kernels)
    assert (trial.kernel, trial.receiver) == (Path("None linked"), Path("6.1 linked"))
    assert "6.1 linked" in trial.network_key
    three = [names(tmp_path, text) for text in (TEXT, LINKED, LINKED.replace("6.1", "7.3"))]
    assert len({name for [name] in three}) == 3


def test_a_trial_without_it_has_no_receivers_kernel(tmp_path: Path) -> None:
    path = write_small(tmp_path, TEXT)
    [trial] = planned(experiment.load(path), path, kernels=kernels)
    assert (trial.kernel, trial.receiver) == (None, None)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"iperf"', '"wrk"', "workload.kind: it is wrk, but with lab.receiver_kernel it must be"),
        (
            "mss_bytes = 1024",
            "mss_bytes = 1024, coalesce_us = 10",
            "topology.coalesce_us: with lab.receiver_kernel it must be 0",
        ),
        ("delay_us = 5_000", "delay_us = 0", "topology.delay_us = 0: .* at least 1"),
        ("mss_bytes = 1024", "mss_bytes = 1024, loss = { share = 0.01 }", "topology.loss: it is"),
        (
            'kind = "drop-tail", limit_packets = 9',
            'policy = "plain", buffer_cells = 300',
            "queue.kind = cells: .* a queue of packets",
        ),
    ],
)
def test_what_cannot_be_parted_is_refused(tmp_path: Path, old: str, new: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        names(tmp_path, LINKED.replace(old, new))
