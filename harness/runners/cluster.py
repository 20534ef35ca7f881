# SPDX-License-Identifier: GPL-2.0-only
"""Runs trials on the workers of a Dask scheduler.

A trial is a task. It leaves its worker's threads (secede) when its lab begins it, so that the
worker takes the next one and the lab has it ahead: a worker with N threads has N labs and up
to 2 N trials. A task of a worker that is lost goes to another one; that is Dask's.

A worker that cannot run trials, for it has other code or its disk is full, is left out: its trials
go to the others, and so do those that wait, by naming to Dask the workers that are left. A worker
that comes later is looked at first.

What crosses the network: the job, events, the packed record. No file system is shared.
"""

from __future__ import annotations

import logging
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
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
from harness.events import Event, Listener, Message, TrialStarted, from_json, to_json
from harness.records import identity
from harness.runners.cluster_tls import security_for, why_not
from harness.runners.lab_pool import POOL, Outcome, PoolJob
from harness.runners.options import Cluster
from plan.errors import LabError, UsageError

CONNECT_S = 10.0
LOOK_S = 2.0
SAY_AGAIN_S = 60.0
OTHER_CODE = "its code, kernel or image differs from the campaign's; update the project there"


class UnfitError(Exception):
    """A worker that cannot run trials: its address, and why."""

    def __init__(self, address: str, why: str) -> None:
        super().__init__(address, why)
        self.address, self.why = address, why


def compute(job: PoolJob) -> Outcome:
    """The task: one trial, on the worker that runs this.

    Raises:
        UnfitError: it has other code than the campaign, or no trial can be run here.
    """
    worker = get_worker()
    if identity.checkout(job.lab) != job.code:
        raise UnfitError(worker.address, OTHER_CODE)
    try:
        task = POOL.submit(job, worker.state.nthreads, partial(send, worker, job.campaign))
        task.started.wait()
        secede()
        return task.outcome.result()
    except Exception as error:
        raise UnfitError(worker.address, f"{type(error).__name__}: {error}") from error


def send(worker: Any, campaign: str, event: Event) -> None:
    """An event to the campaign."""
    worker.log_event(campaign, to_json(event))


def abandon(campaign: str) -> None:
    """On a worker: end what it still does for a campaign."""
    POOL.abandon(campaign)


class ClusterRunner:
    """A runner whose trials are tasks of a Dask scheduler."""

    def __init__(self, client: Client, lab: str, clock: str, code: str, listener: Listener) -> None:
        self._client, self._listener = client, listener
        self._lab, self._clock, self._code = lab, clock, code
        self._lock = threading.RLock()
        self._fit: set[str] | None = None  # workers that may be given trials; None: all
        self._unfit: dict[str, str] = {}
        self._number = 0
        self._begun: set[str] = set()
        self._campaign = f"cellbed-{uuid.uuid4().hex}"
        self._trials: dict[Future, PlannedTrial] = {}
        self._completed = as_completed(loop=client.loop)
        client.subscribe_topic(self._campaign, self._hear)

    def _hear(self, told: tuple[float, Any]) -> None:
        """An event from a worker."""
        event = from_json(told[1])
        if isinstance(event, TrialStarted):
            self._begun.add(event.trial)
        self._listener(event)

    def submit(self, trial: PlannedTrial) -> None:
        self._begun.discard(trial.name)
        job = PoolJob(
            trial=trial,
            lab=self._lab,
            clock=self._clock,
            campaign=self._campaign,
            records=None,
            code=self._code,
        )
        with self._lock:
            self._number += 1
            future = self._client.submit(
                compute, job, key=(f"trial-{self._campaign}", self._number), pure=False, retries=0,
                priority=-self._number, workers=None if self._fit is None else sorted(self._fit),
            )  # fmt: skip
            self._trials[future] = trial
            self._completed.add(future)

    def outcomes(self) -> Iterator[tuple[PlannedTrial, Outcome]]:
        for future in self._completed:
            with self._lock:
                trial = self._trials.pop(future, None)
            if trial is None:
                continue  # it was given to others
            try:
                outcome = future.result()
            except KilledWorker as error:
                outcome = Outcome(
                    reason=f"several workers were lost while they ran this trial: {error}"
                )
            except FutureCancelledError as error:
                raise LabError(
                    "the connection to the scheduler was lost; the same command runs the trials"
                    " that are missing"
                ) from error
            except UnfitError as error:
                self.leave_out({error.address: error.why})
                self.submit(trial)
                continue
            except Exception:  # of a worker that cannot even read what it is given
                if not self._leave_out_new():
                    raise
                self.submit(trial)
                continue
            future.release()
            yield trial, outcome

    def leave_out(self, unfit: dict[str, str]) -> None:
        """Give these workers nothing more.

        Raises:
            LabError: there is no other.
        """
        with self._lock:
            if unfit.keys() - self._unfit.keys():
                self._note(unfit)
                self._give(set(workers_of(self._client)) - self._unfit.keys())
            if self._fit is not None and not self._fit:
                address, why = next(iter(unfit.items()))
                raise LabError(f"no worker is left that can run trials; of worker {address}: {why}")

    def look(self, workers: Iterable[str]) -> int:
        """How many of these may be given trials; of those that have come since, ask."""
        here = set(workers)
        with self._lock:
            if self._fit is None:
                return len(here)
            new, lost = here - self._fit - self._unfit.keys(), self._fit - here
            if new:
                self._note(unfit_of(self._client, self._lab, self._code, sorted(new)))
            if lost:
                self._begun.clear()  # where each was, nobody knows; on a worker it is run once
            if new or lost:
                self._give((self._fit & here | new) - self._unfit.keys())
            return len(self._fit)

    def _leave_out_new(self) -> bool:
        """Ask all workers again; are there new ones that cannot run trials?"""
        workers = [one for one in workers_of(self._client) if one not in self._unfit]
        unfit = unfit_of(self._client, self._lab, self._code, workers)
        if unfit:
            self.leave_out(unfit)
        return bool(unfit)

    def _note(self, unfit: dict[str, str]) -> None:
        """Remember who cannot, and say so once."""
        for address in sorted(unfit.keys() - self._unfit.keys()):
            self._listener(Message(text=f"worker {address} gets no trials: {unfit[address]}"))
        self._unfit |= unfit

    def _give(self, fit: set[str]) -> None:
        """Give trials to these from now on, and anew what no lab has begun."""
        self._fit = fit
        if not fit:
            return
        before = [future for future, trial in self._trials.items()
                  if not future.done() and trial.name not in self._begun]  # fmt: skip
        for future in before:  # given before they are taken away: there is always one to wait for
            self.submit(self._trials.pop(future))
        self._client.cancel(before)

    def end(self) -> None:
        """End what the workers still do for this campaign."""
        with suppress(OSError, TimeoutError, FutureCancelledError):
            with self._lock:
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
        unfit = check_workers(client, cluster.address, lab, code)
        made = ClusterRunner(client, lab, clock, code, listener)
        made.leave_out(unfit)
        with watching_workers(lambda: made.look(workers_of(client)), listener):
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
def watching_workers(count: Callable[[], int], listener: Listener) -> Iterator[None]:
    """Tell when the cluster has no worker left, how long that lasts, and that it is over.

    count: how many workers there are now.
    """
    ended = threading.Event()

    def look() -> None:
        alone = None
        while not ended.wait(LOOK_S):
            try:
                workers = count()
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
        text = (
            f"after {now - alone.since:.0f} s a worker has connected; the trials go on"
            if alone
            else ""
        )
        return None, text
    if alone is None:
        return Alone(
            now, now
        ), "no worker is left; the trials wait until ./cellbed worker starts one"
    if now - alone.said >= SAY_AGAIN_S:
        text = f"no worker is left; the trials have waited for {now - alone.since:.0f} s"
        return Alone(alone.since, now), text
    return alone, ""


def check_workers(client: Client, address: str, lab: str, code: str) -> dict[str, str]:
    """Is there a worker that has the campaign's code? Those that have not, and why."""
    try:
        workers = workers_of(client)
        unfit = unfit_of(client, lab, code, workers)
    except Exception as error:
        raise UsageError(f"--scheduler {address}: its workers cannot be asked: {error}") from error
    if not workers:
        raise UsageError(f"--scheduler {address} has no workers; start one with ./cellbed worker")
    if len(unfit) == len(workers):
        worker, why = next(iter(unfit.items()))
        raise UsageError(f"no worker can run trials; of worker {worker}: {why}")
    return unfit


def workers_of(client: Client) -> list[str]:
    """The addresses of those that there are."""
    return [str(address) for address in client.scheduler_info()["workers"]]


def unfit_of(client: Client, lab: str, code: str, workers: list[str]) -> dict[str, str]:
    """Of some workers those that cannot run a campaign's trials, and why."""
    found = client.run(identity.checkout, lab, workers=workers, on_error="return")
    told = {worker: why_unfit(has, code) for worker, has in found.items()}
    return {worker: why for worker, why in told.items() if why}


def why_unfit(has: object, code: str) -> str:
    """By what a worker says of its code; "" where it is the campaign's."""
    if isinstance(has, ModuleNotFoundError):
        return "it was started without cellbed; start it with ./cellbed worker"
    if isinstance(has, Exception):
        return f"{type(has).__name__}: {has}"
    return "" if has == code else OTHER_CODE
