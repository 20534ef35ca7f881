# SPDX-License-Identifier: GPL-2.0-only
"""Where a campaign's trials run: a Dask cluster, in this process or of many machines.

A trial is a task. It leaves its worker's threads (secede) when its lab begins it, so that the
worker takes the next one and the lab has it ahead: a worker with N threads has N labs and up
to 2 N trials. A task of a worker that is lost goes to another one; that is Dask's.

What crosses the network: the job, events, the packed record. No file system is shared.
"""

from __future__ import annotations

import logging
import threading
import time
import uuid
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import dask
from distributed import (
    Client,
    Future,
    KilledWorker,
    LocalCluster,
    as_completed,
    get_worker,
    secede,
)
from distributed.client import FutureCancelledError

from harness.campaign import identity
from harness.design.plan import Trial
from harness.errors import LabError, UsageError
from harness.labs.session import lab_folder
from harness.runners.cluster_address import Cluster
from harness.runners.cluster_tls import security_for, why_not
from harness.runners.lab_pool import POOL, Job, Outcome

CONNECT_S = 10.0
LOOK_S = 2.0
SAY_AGAIN_S = 60.0
# Of the cluster in this process: no port but one on loopback that Dask insists on, no sampling
# of what the threads do, no limit on the memory that labs are no part of.
HERE = {"distributed.worker.profile.enabled": False}
LOOPBACK = "127.0.0.1:0"

Hear = Callable[[str, str, float], None]
Say = Callable[[str], None]


def compute(job: Job) -> Outcome:
    """The task: one trial, on the worker that runs this.

    Raises:
        UsageError: this worker has other code than the campaign.
    """
    worker = get_worker()
    if job.records is None and identity.checkout(job.lab) != job.code:
        raise UsageError(other_code(worker.address))
    order = POOL.order(job, worker.state.nthreads, partial(tell, worker, job))
    order.begun.wait()
    secede()
    return order.outcome.result()


def tell(worker: Any, job: Job, what: str, seconds: float) -> None:
    """An event to the campaign."""
    worker.log_event(job.campaign, {"what": what, "trial": job.trial.name, "seconds": seconds})


def abandon(campaign: str) -> None:
    """On a worker: end what it still does for a campaign."""
    POOL.abandon(campaign)


def other_code(address: str) -> str:
    return f"worker {address}: not the campaign's code, kernel or image; bring it up to date"


class Crew:
    """Takes trials and yields their outcomes.

    Args:
        job: all of a Job but its trial.
        hear: called with ("begin" | "progress", trial's name, seconds) by another thread.
    """

    def __init__(self, client: Client, job: dict[str, Any], hear: Hear) -> None:
        self._client = client
        self._job = job
        self._trials: dict[Future, Trial] = {}
        self._completed = as_completed(loop=client.loop)
        client.subscribe_topic(job["campaign"], partial(self._heard, hear))

    @staticmethod
    def _heard(hear: Hear, event: tuple[float, Any]) -> None:
        said = event[1]
        hear(said["what"], said["trial"], said["seconds"])

    def submit(self, trial: Trial) -> None:
        """One more trial, behind those already submitted."""
        key = (f"trial-{self._job['campaign']}", len(self._trials))
        job = Job(trial=trial, **self._job)
        future = self._client.submit(
            compute, job, key=key, pure=False, retries=0, priority=-len(self._trials)
        )
        self._trials[future] = trial
        self._completed.add(future)

    def outcomes(self) -> Iterator[tuple[Trial, Outcome]]:
        """Each trial with its outcome as soon as there is one, until none is left.

        Raises:
            CellbedError: nothing that trying again could mend.
        """
        for future in self._completed:
            trial = self._trials[future]
            try:
                outcome = future.result()
            except KilledWorker as error:
                outcome = Outcome(reason=f"its worker was lost, again and again: {error}")
            except FutureCancelledError as error:
                raise LabError("the connection to the scheduler is lost") from error
            future.release()
            yield trial, outcome

    def abandon(self) -> None:
        """End what the workers still do for this campaign."""
        with suppress(OSError, TimeoutError, FutureCancelledError):
            self._client.cancel([future for future in self._trials if not future.done()])
            self._client.run(abandon, self._job["campaign"])


@contextmanager
def crew(
    lab: str, clock: str, jobs: int, cluster: Cluster | None, records: Path, hear: Hear, say: Say
) -> Iterator[Crew]:
    """A crew of this process with `jobs` labs, or of a cluster.

    Args:
        records: the campaign's folder of records; the cluster's workers do not see it.
        hear: see Crew.
        say: told when the cluster has no worker left, and for how long.

    Raises:
        UsageError: no scheduler there that lets one in, no worker, or one that has other code.
    """
    quieten()
    job: dict[str, Any] = {"lab": lab, "clock": clock, "campaign": f"cellbed-{uuid.uuid4().hex}"}
    with here(jobs) if cluster is None else there(cluster) as client, ExitStack() as stack:
        if cluster is None:
            job |= {"code": "", "records": records}
        else:
            job |= {"code": identity.checkout(lab), "records": None}
            check_workers(client, cluster.address, lab, job["code"])
            stack.enter_context(looking_after(client, say))
        made = Crew(client, job, hear)
        try:
            yield made
        finally:
            made.abandon()


def quieten() -> None:
    """Dask tells of every lost connection; what matters to a person is an error here."""
    for name in ("distributed", *logging.root.manager.loggerDict):
        if name.partition(".")[0] == "distributed":
            logging.getLogger(name).setLevel(logging.CRITICAL)


@contextmanager
def here(jobs: int) -> Iterator[Client]:
    """A cluster in this process; gone with it, whatever ends it."""
    with (
        lab_folder() as folder,
        dask.config.set({**HERE, "temporary-directory": str(folder)}),
        warnings.catch_warnings(action="ignore"),
        LocalCluster(
            processes=False,
            n_workers=1,
            threads_per_worker=jobs,
            memory_limit=0,
            dashboard_address=LOOPBACK,
            worker_dashboard_address=LOOPBACK,
            silence_logs=logging.CRITICAL,
        ) as cluster,
        Client(cluster) as client,
    ):
        try:
            yield client
        finally:
            POOL.wait()


@contextmanager
def there(cluster: Cluster) -> Iterator[Client]:
    """A cluster that somebody runs."""
    security = security_for(cluster.address, cluster.secret)
    try:
        client = Client(cluster.address, timeout=CONNECT_S, security=security)
    except (OSError, ValueError, RuntimeError) as error:
        why = why_not(cluster.address, security)
        raise UsageError(f"--scheduler {cluster.address}: {why}") from error
    with client:
        yield client


@contextmanager
def looking_after(client: Client, say: Say) -> Iterator[None]:
    """Say when the cluster has no worker left, how long that lasts, and that it is over."""
    ended = threading.Event()

    def look() -> None:
        alone = None
        while not ended.wait(LOOK_S):
            try:
                workers = len(client.scheduler_info()["workers"])
            except Exception:  # noqa: BLE001 (who awaits the trials is told)
                return
            alone = say_if_alone(alone, workers, say)

    looker = threading.Thread(target=look, daemon=True)
    looker.start()
    try:
        yield
    finally:
        ended.set()


@dataclass(frozen=True)
class Alone:
    """Without a worker since `since`, and when that was said last [s, monotonic]."""

    since: float
    said: float


def say_if_alone(alone: Alone | None, workers: int, say: Say) -> Alone | None:
    """One look at the number of workers: say what is new, or after a while what still holds."""
    now = time.monotonic()
    if workers:
        if alone is not None:
            say(f"a worker has come after {now - alone.since:.0f} s without one")
        return None
    if alone is None:
        say("no worker is left; waiting for one, ./cellbed worker makes it")
        return Alone(now, now)
    if now - alone.said >= SAY_AGAIN_S:
        say(f"no worker is left; waited for one for {now - alone.since:.0f} s")
        return Alone(alone.since, now)
    return alone


def check_workers(client: Client, address: str, lab: str, code: str) -> None:
    """Is there a worker, and has each the campaign's code?"""
    try:
        found = client.run(identity.checkout, lab, on_error="return")
    except Exception as error:
        raise UsageError(f"--scheduler {address}: {error}") from error
    if not found:
        raise UsageError(f"--scheduler {address}: it has no workers; ./cellbed worker makes one")
    for worker, has in found.items():
        if isinstance(has, ModuleNotFoundError):
            raise UsageError(f"worker {worker}: started without cellbed; use ./cellbed worker")
        if isinstance(has, Exception):
            raise UsageError(f"worker {worker}: {has}")
        if has != code:
            raise UsageError(other_code(worker))
