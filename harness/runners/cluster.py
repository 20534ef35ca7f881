# SPDX-License-Identifier: GPL-2.0-only
"""Runs trials on the workers of a Dask scheduler.

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
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from distributed import (
    Client,
    Future,
    KilledWorker,
    as_completed,
    get_worker,
    secede,
)
from distributed.client import FutureCancelledError

from harness.design.trials import PlannedTrial
from harness.errors import LabError, UsageError
from harness.events import Event, Listener, Message, from_json, to_json
from harness.records import identity
from harness.runners.cluster_tls import security_for, why_not
from harness.runners.lab_pool import POOL, Job, Outcome
from harness.runners.runner import Cluster

CONNECT_S = 10.0
LOOK_S = 2.0
SAY_AGAIN_S = 60.0


def compute(job: Job) -> Outcome:
    """The task: one trial, on the worker that runs this.

    Raises:
        UsageError: this worker has other code than the campaign.
    """
    worker = get_worker()
    if identity.checkout(job.lab) != job.code:
        raise UsageError(other_code(worker.address))
    task = POOL.submit(job, worker.state.nthreads, partial(send, worker, job.campaign))
    task.started.wait()
    secede()
    return task.outcome.result()


def send(worker: Any, campaign: str, event: Event) -> None:
    """An event to the campaign."""
    worker.log_event(campaign, to_json(event))


def abandon(campaign: str) -> None:
    """On a worker: end what it still does for a campaign."""
    POOL.abandon(campaign)


def other_code(address: str) -> str:
    return f"worker {address}: not the campaign's code, kernel or image; bring it up to date"


class ClusterRunner:
    """A runner whose trials are tasks of a Dask scheduler."""

    def __init__(
        self, client: Client, lab: str, clock: str, code: str, listener: Listener
    ) -> None:
        self._client = client
        self._lab, self._clock, self._code = lab, clock, code
        self._campaign = f"cellbed-{uuid.uuid4().hex}"
        self._trials: dict[Future, PlannedTrial] = {}
        self._completed = as_completed(loop=client.loop)
        client.subscribe_topic(self._campaign, lambda event: listener(from_json(event[1])))

    def submit(self, trial: PlannedTrial) -> None:
        key = (f"trial-{self._campaign}", len(self._trials))
        job = Job(
            trial=trial,
            lab=self._lab,
            clock=self._clock,
            campaign=self._campaign,
            records=None,
            code=self._code,
        )
        future = self._client.submit(
            compute, job, key=key, pure=False, retries=0, priority=-len(self._trials)
        )
        self._trials[future] = trial
        self._completed.add(future)

    def outcomes(self) -> Iterator[tuple[PlannedTrial, Outcome]]:
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

    def end(self) -> None:
        """End what the workers still do for this campaign."""
        with suppress(OSError, TimeoutError, FutureCancelledError):
            self._client.cancel([future for future in self._trials if not future.done()])
            self._client.run(abandon, self._campaign)


@contextmanager
def cluster_runner(
    lab: str, clock: str, cluster: Cluster, listener: Listener
) -> Iterator[ClusterRunner]:
    """A runner on a cluster; the listener also hears when no worker is left, and for how long."""
    quieten()
    with connected(cluster) as client:
        code = identity.checkout(lab)
        check_workers(client, cluster.address, lab, code)
        made = ClusterRunner(client, lab, clock, code, listener)
        with watching_workers(client, listener):
            try:
                yield made
            finally:
                made.end()


def quieten() -> None:
    """Dask tells of every lost connection; what matters to a person is an error here."""
    for name in ("distributed", *logging.root.manager.loggerDict):
        if name.partition(".")[0] == "distributed":
            logging.getLogger(name).setLevel(logging.CRITICAL)


@contextmanager
def connected(cluster: Cluster) -> Iterator[Client]:
    """A client of a cluster that somebody runs."""
    security = security_for(cluster.address, cluster.secret)
    try:
        client = Client(cluster.address, timeout=CONNECT_S, security=security)
    except (OSError, ValueError, RuntimeError) as error:
        why = why_not(cluster.address, security)
        raise UsageError(f"--scheduler {cluster.address}: {why}") from error
    with client:
        yield client


@contextmanager
def watching_workers(client: Client, listener: Listener) -> Iterator[None]:
    """Tell when the cluster has no worker left, how long that lasts, and that it is over."""
    ended = threading.Event()

    def look() -> None:
        alone = None
        while not ended.wait(LOOK_S):
            try:
                workers = len(client.scheduler_info()["workers"])
            except Exception:  # noqa: BLE001 (who awaits the trials is told)
                return
            alone, text = next_look(alone, workers)
            if text:
                listener(Message(text=text))

    threading.Thread(target=look, daemon=True).start()
    try:
        yield
    finally:
        ended.set()


@dataclass(frozen=True)
class Alone:
    """Without a worker since `since`, and when that was said last [s, monotonic]."""

    since: float
    said: float


def next_look(alone: Alone | None, workers: int) -> tuple[Alone | None, str]:
    """One look at the number of workers: what is new, or after a while what still holds."""
    now = time.monotonic()
    if workers:
        text = f"a worker has come after {now - alone.since:.0f} s without one" if alone else ""
        return None, text
    if alone is None:
        return Alone(now, now), "no worker is left; waiting for one, ./cellbed worker makes it"
    if now - alone.said >= SAY_AGAIN_S:
        text = f"no worker is left; waited for one for {now - alone.since:.0f} s"
        return Alone(alone.since, now), text
    return alone, ""


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
