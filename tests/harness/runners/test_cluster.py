# SPDX-License-Identifier: GPL-2.0-only
"""A campaign on two workers, each with a checkout and a temporary directory of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.campaign.campaign import CampaignRun
from harness.events import Event, TrialStarted
from harness.runners.options import Cluster, Options
from plan.errors import UsageError
from tests.small import PROJECT, run_trials, tiny_trials

SOURCES = shutil.ignore_patterns(".*", "__pycache__", "results", "docs", "tests")


@dataclass(frozen=True, kw_only=True)
class Server:
    """A scheduler or worker: its process, its address, its temporary directory."""

    process: subprocess.Popen[str]
    address: str
    temporary: Path
    secret: Path

    def trial_under_way(self) -> str | None:
        """The trial that a lab of this worker has begun and not ended."""
        for path in self.temporary.glob("cellbed-lab.*/events.jsonl"):
            events = [json.loads(x) for x in path.read_text().splitlines(True) if x[-1] == "\n"]
            names = [e["trial"] for e in events if e["event"] == "trial-begin"]
            ended = sum(e["event"] == "trial-end" for e in events)
            if len(names) > ended:
                return names[-1]
        return None


@contextmanager
def server(folder: Path, *words: str, secret: Path, project: Path = PROJECT) -> Iterator[Server]:
    """Started, and ended in the end; its address is the second word it says."""
    temporary = folder / "tmp"
    temporary.mkdir(parents=True)
    environment = {**os.environ, "PYTHONPATH": str(project), "TMPDIR": str(temporary)}
    process = subprocess.Popen(
        [sys.executable, "-B", "-m", "harness", *words, "--tls", str(secret)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=folder,
        env=environment,
    )
    assert process.stdout is not None
    with process, process.stdout:
        try:
            said = process.stdout.readline().split()
            address = next(word for word in said if word.startswith("tls://"))
            yield Server(
                process=process,
                address=address.rstrip(";"),
                temporary=temporary,
                secret=secret,
            )
        finally:
            process.terminate()


@pytest.fixture
def scheduler(tmp_path: Path) -> Iterator[Server]:
    secret = tmp_path / "cluster.pem"
    with server(tmp_path / "scheduler", "scheduler", "--port", "0", secret=secret) as made:
        yield made


@contextmanager
def worker(scheduler: Server, folder: Path, change: str = "") -> Iterator[Server]:
    """A worker with one lab, in a checkout of its own; `change` is added to a file of it."""
    project = folder / "checkout"
    shutil.copytree(PROJECT, project, ignore=SOURCES)
    with (project / "analysis" / "metrics.py").open("a") as source:
        source.write(change)
    words = ("worker", scheduler.address, "--jobs", "1")
    with server(folder, *words, secret=scheduler.secret, project=project) as made:
        yield made


def options(scheduler: Server) -> Options:
    return Options(cluster=Cluster(address=scheduler.address, secret=scheduler.secret))


@pytest.mark.lab
def test_a_worker_killed_in_mid_trial_costs_that_trial(tmp_path: Path, scheduler: Server) -> None:
    trials = tiny_trials(tmp_path, seeds=6)
    begun: Counter[str] = Counter()
    lost: list[str] = []
    with (
        worker(scheduler, tmp_path / "one") as one,
        worker(scheduler, tmp_path / "two") as two,
    ):

        def listener(event: Event) -> None:
            if isinstance(event, TrialStarted):
                begun[event.trial] += 1
            under_way = one.trial_under_way()
            if under_way and begun[under_way] and not lost:
                one.process.kill()
                lost.append(under_way)

        folder = tmp_path / "out"
        campaign = CampaignRun(folder, trials, {"name": "tiny"}, options(scheduler), listener)
        done = campaign.run()
        assert two.process.poll() is None
    left = list(two.temporary.glob("cellbed-lab.*"))
    names = {trial.name for trial in trials}
    assert set(done) == names and all(document["valid"] for document in done.values())
    assert {path.name for path in campaign.records.iterdir()} == names
    again = next(trial for trial in trials if trial.name == lost[0])
    run_trials(tmp_path / "here", [again])
    there, here = (tmp_path / x / "trials" / again.name / "flows.csv" for x in ("out", "here"))
    assert there.read_bytes() == here.read_bytes()
    assert begun == Counter(names) + Counter(lost) and len(lost) == 1
    assert not campaign.failures and not left


def test_a_worker_with_other_code_is_refused(tmp_path: Path, scheduler: Server) -> None:
    trials = tiny_trials(tmp_path)
    campaign = CampaignRun(tmp_path / "out", trials, {"name": "tiny"}, options(scheduler))
    with (
        worker(scheduler, tmp_path / "one", "# changed\n") as one,
        pytest.raises(UsageError, match=f"of worker {one.address}: its code, kernel or"),
    ):
        campaign.run()


def test_a_cluster_without_workers_is_refused(tmp_path: Path, scheduler: Server) -> None:
    trials = tiny_trials(tmp_path)
    campaign = CampaignRun(tmp_path / "out", trials, {"name": "tiny"}, options(scheduler))
    with pytest.raises(UsageError, match="has no workers; start one"):
        campaign.run()
