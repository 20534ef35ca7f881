# SPDX-License-Identifier: GPL-2.0-only
"""The labs of this process, and the trials they run.

A lab is booted once and runs one trial after the other, as long as trials come whose network
it has. It has the next trial while one is under way, so that it never waits: order() puts a
trial in and says when it has begun; who brings the trials brings the next one then.
"""

from __future__ import annotations

import errno
import shutil
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.campaign import identity, parcel, record
from harness.design.plan import Trial
from harness.errors import LabError
from harness.labs import Lab, LabSpec
from harness.labs.session import session

AHEAD = 2  # the trial under way and the next

Tell = Callable[[str, float], None]


@dataclass(frozen=True, kw_only=True)
class Job:
    """One trial to be run.

    Attributes:
        lab, clock: which lab, and its clock.
        campaign: who wants it; abandon() goes by it.
        code: identity of the code that is to run it.
        records: the campaign's folder of records; None: it is on another machine.
    """

    trial: Trial
    lab: str
    clock: str
    campaign: str
    code: str
    records: Path | None

    @property
    def kind(self) -> tuple[str, str, str]:
        """Jobs of one kind can share a lab."""
        return (self.lab, self.clock, self.trial.network_key)


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What became of a trial.

    Attributes:
        reason: why it failed; None when it has a record.
        record: the packed record, when the campaign's folder is elsewhere.
    """

    reason: str | None = None
    record: bytes | None = None


ABANDONED = Outcome(reason="abandoned")


class Order:
    """A job in the pool. A trial that is ordered again while it is there is not run again."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.begun = threading.Event()
        self.outcome: Future[Outcome] = Future()
        self.listeners: list[Tell] = []

    def tell(self, what: str, seconds: float) -> None:
        """Say "begin" or "progress" to all who wait for this trial."""
        for listener in tuple(self.listeners):
            listener(what, seconds)
        self.begun.set()

    def close(self, outcome: Outcome | Exception) -> None:
        """The end of it; what is not the trial's own failure is raised where it is awaited."""
        if isinstance(outcome, Outcome):
            self.outcome.set_result(outcome)
        else:
            self.outcome.set_exception(outcome)
        self.begun.set()


class LabPool:
    """At most `slots` labs at a time; the number may differ from call to call."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self._slots = 1
        self._waiting: deque[Order] = deque()
        self._orders: dict[str, Order] = {}
        self._runs: list[LabRun] = []
        self._abandoned: set[str] = set()

    def order(self, job: Job, slots: int, tell: Tell) -> Order:
        """Put in a trial, or join those who already wait for it.

        Raises:
            LabError: the campaign has been abandoned here.
        """
        with self.lock:
            self._slots = slots
            if job.campaign in self._abandoned:
                raise LabError("the campaign was abandoned")
            order = self._orders.get(job.trial.name)
            if order is None:
                order = self._orders[job.trial.name] = Order(job)
                self._waiting.append(order)
            order.listeners.append(tell)
            self._spread()
        return order

    def _spread(self) -> None:
        """Give what waits to new labs while there may be more, else ahead to one of its kind."""
        for order in tuple(self._waiting):
            if len(self._runs) < self._slots:
                run = LabRun(self, order)
                self._runs.append(run)
                run.start()
            else:
                takers = [run for run in self._runs if run.takes(order.job.kind)]
                if not takers:
                    continue
                min(takers, key=lambda run: len(run.given)).give(order)
            self._waiting.remove(order)

    def next_for(self, kind: tuple[str, str, str]) -> Order | None:
        """A trial that waits and that a lab of this kind can run."""
        for order in self._waiting:
            if order.job.kind == kind:
                self._waiting.remove(order)
                return order
        return None

    def close(self, order: Order, outcome: Outcome | Exception) -> None:
        """A trial has its outcome."""
        with self.lock:
            del self._orders[order.job.trial.name]
        order.close(outcome)

    def left(self, run: LabRun, unbegun: list[Order]) -> None:
        """A lab is gone; its place is free, and what it had not begun goes back."""
        with self.lock:
            self._runs.remove(run)
            self._waiting.extendleft(reversed(unbegun))
            self._spread()

    def abandon(self, campaign: str) -> None:
        """Nobody waits for a campaign's trials any more: end those labs that have any."""
        with self.lock:
            self._abandoned.add(campaign)
            for order in [o for o in self._waiting if o.job.campaign == campaign]:
                self._waiting.remove(order)
                self.close(order, ABANDONED)
            runs = [r for r in self._runs if any(o.job.campaign == campaign for o in r.given)]
        for run in runs:
            run.abandon(campaign)

    def end(self) -> None:
        """End every lab, and wait until they are gone."""
        with self.lock:
            orders = list(self._orders.values())
        for campaign in {order.job.campaign for order in orders}:
            self.abandon(campaign)
        self.wait()

    def wait(self) -> None:
        """Wait until every lab is gone."""
        with self.lock:
            runs = tuple(self._runs)
        for run in runs:
            run.join()


class LabRun(threading.Thread):
    """One lab and the trials it runs."""

    def __init__(self, pool: LabPool, first: Order) -> None:
        super().__init__(name="lab", daemon=True)
        self.pool = pool
        self.kind = first.job.kind
        self.given: deque[Order] = deque([first])
        self._lab: Lab | None = None
        self._ending = False
        self._abandoned = ""
        self._begun = (0.0, 0.0)

    def run(self) -> None:
        """Boot, feed, collect; a lab that dies costs the trial under way."""
        try:
            self._work()
        except LabError as error:
            self._lost(Outcome(reason=f"{error}\n{error.console}".strip()))
        except Exception as error:  # noqa: BLE001 (raised where the trial is awaited)
            self._lost(error)
        finally:
            self.pool.left(self, list(self.given))

    def _work(self) -> None:
        job = self.given[0].job
        topology = job.trial.plan["topology"]
        spec = LabSpec(pairs=topology["pairs"], clock=job.clock)
        with session(job.lab, spec) as lab:
            with self.pool.lock:
                if self._abandoned:
                    raise LabError("abandoned")
                lab.submit_network(topology)
                self._lab = lab
                self._submit(lab, self.given[0])
            try:
                for event in lab.events():
                    self._follow(lab, event)
            finally:
                with self.pool.lock:
                    self._ending = True  # before the folder goes in which it is given trials

    def takes(self, kind: tuple[str, str, str]) -> bool:
        """Can this lab be given one more trial of this kind?"""
        ready = self._lab is not None and not self._ending
        return ready and kind == self.kind and len(self.given) < AHEAD

    def give(self, order: Order) -> None:
        """One more trial; the pool's lock is held."""
        assert self._lab is not None
        self.given.append(order)
        self._submit(self._lab, order)

    def _submit(self, lab: Lab, order: Order) -> None:
        trial = order.job.trial
        lab.submit_trial(trial.name, trial.plan)

    def abandon(self, campaign: str) -> None:
        """End the lab, without waiting for it."""
        self._abandoned = campaign
        if self._lab is not None:
            threading.Thread(target=self._lab.kill, daemon=True).start()

    def _follow(self, lab: Lab, event: dict[str, Any]) -> None:
        kind = event["event"]
        if kind == "trial-begin":
            self._begun = (time.monotonic(), lab.cpu_s())
            self.given[0].tell("begin", 0.0)
        elif kind == "progress":
            self.given[0].tell("progress", event["second"])
        elif kind == "trial-end":
            self._finish(lab, self._go_on(lab))
        elif kind == "trial-failed":
            self.pool.close(self._go_on(lab), Outcome(reason=event["error"]))
        elif kind == "failed":
            raise LabError(event["error"], lab.console())

    def _go_on(self, lab: Lab) -> Order:
        """Take off the trial that has ended; a lab without another one ends."""
        with self.pool.lock:
            ended = self.given.popleft()
            if not self.given:
                waiting = self.pool.next_for(self.kind)
                if waiting is not None:
                    self.give(waiting)
                else:
                    self._ending = True
                    lab.submit({"kind": "end"})
        return ended

    def _finish(self, lab: Lab, order: Order) -> None:
        costs = {
            "wall_s": round(time.monotonic() - self._begun[0], 3),
            "cpu_s": round(lab.cpu_s() - self._begun[1], 3),
        }
        try:
            outcome: Outcome | Exception = deliver(order.job, lab.run_directory, costs)
        except Exception as error:  # noqa: BLE001 (that trial's failure, or raised where awaited)
            outcome = error if disk_full(error) else Outcome(reason=no_record(error))
        self.pool.close(order, outcome)

    def _lost(self, outcome: Outcome | Exception) -> None:
        """The lab is gone: the trial under way has failed, unless it was ended for another's."""
        with self.pool.lock:
            orders, self.given = self.given, deque()
            for place, order in enumerate(orders):
                if order.job.campaign == self._abandoned:
                    self.pool.close(order, ABANDONED)
                elif not self._abandoned and (place == 0 or isinstance(outcome, Exception)):
                    self.pool.close(order, outcome)
                else:
                    self.given.append(order)


def deliver(job: Job, folder: Path, costs: dict[str, float]) -> Outcome:
    """Make the record of a trial that has ended, in the campaign's folder or as a parcel.

    Raises:
        LabError: what ran it may be something else than the trial's name says.
    """
    if identity.found(job.lab) != identity.software(job.lab):
        raise LabError("the project's files, or what set-up made, have changed while it ran")
    name = job.trial.name
    raw, here = folder / "results" / name, folder / "records"
    software = {"lab": job.lab, "clock": job.clock, **identity.software(job.lab)}
    record.finish(job.trial, software, raw, job.records or here, costs)
    shutil.rmtree(raw)
    if job.records is not None:
        return Outcome()
    packed = parcel.pack(here / name)
    shutil.rmtree(here / name)
    return Outcome(record=packed)


def no_record(error: Exception) -> str:
    """Why a trial has no record, in a sentence."""
    kind = "" if isinstance(error, LabError) else f"{type(error).__name__}: "
    return f"no record could be made of it: {kind}{error}"


def disk_full(error: Exception) -> bool:
    """Is it nothing of the one trial's, but what every other would meet too?"""
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EROFS)


POOL = LabPool()
