# SPDX-License-Identifier: GPL-2.0-only
"""A worker that cannot run trials costs a campaign that worker. Dask in this process, no lab."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from distributed import Client, LocalCluster, get_worker

from harness.events import Event, Message
from harness.labs import LABS
from harness.records import identity, record
from harness.runners import cluster
from harness.runners.cluster import ClusterRunner, check_workers, cluster_runner
from harness.runners.lab_pool import LabPool, PoolJob, Task
from harness.runners.options import Cluster
from plan.errors import LabError, UsageError
from tests.paper import PaperLab, finish
from tests.small import tiny_trials


@pytest.fixture
def dask() -> Iterator[LocalCluster]:
    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None
    ) as made:
        yield made


class Pool(LabPool):
    """Of both workers; those in `full` have no more room."""

    full: set[str] = set()

    def submit(self, job: PoolJob, slots: int, listener: Any) -> Task:
        if get_worker().address in self.full:
            raise OSError(errno.ENOSPC, "No space left on device")
        return super().submit(job, slots, listener)


@pytest.fixture
def pool(monkeypatch: pytest.MonkeyPatch) -> Pool:
    class Fresh(PaperLab):
        script: dict[str, list[str]] = {}

    made = Pool()
    made.full = set()
    monkeypatch.setitem(LABS, "paper", Fresh)
    monkeypatch.setattr(record, "finish", finish)
    monkeypatch.setattr(cluster, "POOL", made)
    return made


def addresses(dask: LocalCluster) -> list[str]:
    return [worker.address for worker in dask.workers.values()]


def run(client: Client, folder: Path, heard: list[Event], seeds: int = 6) -> set[str]:
    """All trials of a runner; names of those that have a record."""
    made = ClusterRunner(client, "paper", "virtual", identity.checkout("paper"), heard.append)
    for trial in tiny_trials(folder, seeds):
        made.submit(trial)
    return {trial.name for trial, outcome in made.outcomes() if outcome.record}


def test_a_full_disk_costs_that_worker(tmp_path: Path, dask: LocalCluster, pool: Pool) -> None:
    bad, _ = addresses(dask)
    pool.full = {bad}
    heard: list[Event] = []
    with Client(dask) as client:
        done = run(client, tmp_path, heard)
    assert done == {trial.name for trial in tiny_trials(tmp_path, 6)}
    said = [event.text for event in heard if isinstance(event, Message)]
    assert said == [f"worker {bad} gets no trials: OSError: [Errno 28] No space left on device"]


def test_without_any_other_it_is_an_error(tmp_path: Path, dask: LocalCluster, pool: Pool) -> None:
    pool.full = set(addresses(dask))
    with Client(dask) as client, pytest.raises(LabError, match="no worker is left that can run"):
        run(client, tmp_path, [])


def test_one_with_other_code_is_left_out_from_the_beginning(
    tmp_path: Path, dask: LocalCluster, pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, bad = identity.checkout("paper"), addresses(dask)[0]

    def checkout(lab: str) -> str:
        try:
            return "older" if get_worker().address == bad else code
        except ValueError:
            return code  # the campaign's own

    monkeypatch.setattr(identity, "checkout", checkout)
    heard: list[Event] = []
    trials = tiny_trials(tmp_path, 4)
    address = Cluster(address=dask.scheduler_address)
    monkeypatch.setattr(cluster, "security_for", lambda *_: None)
    with cluster_runner("paper", "virtual", address, heard.append) as made:
        for trial in trials:
            made.submit(trial)
        done = {trial.name for trial, outcome in made.outcomes() if outcome.record}
    assert done == {trial.name for trial in trials}
    assert Message(text=f"worker {bad} gets no trials: {cluster.OTHER_CODE}") in heard
    monkeypatch.setattr(identity, "checkout", lambda lab: "older")
    with Client(dask) as client, pytest.raises(UsageError, match="differs from the campaign's"):
        check_workers(client, "here", "paper", code)


def test_one_that_comes_later_is_given_what_waits(
    tmp_path: Path, dask: LocalCluster, pool: Pool
) -> None:
    """After one was left out; and the place of one that is lost is taken."""
    heard: list[Event] = []
    with Client(dask) as client:
        made = ClusterRunner(client, "paper", "virtual", identity.checkout("paper"), heard.append)
        first, second = addresses(dask)
        made.leave_out({first: "full"})
        dask.scale(3)
        client.wait_for_workers(3)
        [third] = set(addresses(dask)) - {first, second}
        assert made.look([first, third]) == 1  # the second is lost
        for trial in tiny_trials(tmp_path, 3):
            made.submit(trial)
        assert sum(bool(outcome.record) for _, outcome in made.outcomes()) == 3
