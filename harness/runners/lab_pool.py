# SPDX-License-Identifier: GPL-2.0-only
"""The labs of this process, and the trials they run.

A lab is booted once and runs one trial after the other, as long as there are trials whose
network it has. It has the next trial while one is under way, so that it never waits.
"""

from __future__ import annotations

import errno
import threading
import time
from collections import deque
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.design.trials import PlannedTrial
from harness.events import Event, Listener, TrialProgress, TrialStarted
from harness.host import temporary
from harness.labs import Lab, LabSpec
from harness.labs.session import session
from harness.records import archive, identity, record
from plan.errors import LabError

AHEAD = 2  # the trial under way and the next


@dataclass(frozen=True, kw_only=True)
class PoolJob:
    """One trial to be run.

    Attributes:
        lab, clock: which lab, and its clock.
        campaign: who wants it; abandon() goes by it.
        records: the campaign's folder of records; None: it is on another machine.
        code: identity of the code that is to run it on another machine.
        gdb: where gdb stops the lab's kernel; empty: there is none.
    """

    trial: PlannedTrial
    lab: str
    clock: str
    campaign: str
    records: Path | None
    code: str = ""
    gdb: str = ""

    @property
    def kind(self) -> tuple[str, ...]:
        """Jobs of one kind can share a lab."""
        return (self.lab, self.clock, self.gdb, self.trial.network_key)

    @property
    def key(self) -> tuple[Path | None, str]:
        """Jobs of one key want one record: in one folder of this machine, or sent away."""
        return (self.records, self.trial.name)


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


class Task:
    """A job in the pool. One that is submitted again while it is there is not run again."""

    def __init__(self, job: PoolJob) -> None:
        self.job = job
        self.started = threading.Event()
        self.outcome: Future[Outcome] = Future()
        self.listeners: list[Listener] = []
        self.campaigns: set[str] = set()  # who want it

    def emit(self, event: Event) -> None:
        """An event of this trial, to all who wait for it."""
        for listener in tuple(self.listeners):
            listener(event)
        self.started.set()

    def close(self, outcome: Outcome | Exception) -> None:
        """The end of it; what is not the trial's own failure is raised where it is awaited."""
        if isinstance(outcome, Outcome):
            self.outcome.set_result(outcome)
        else:
            self.outcome.set_exception(outcome)
        self.started.set()


class LabPool:
    """At most `slots` labs at a time; the number may differ from call to call."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self._slots = 1
        self._waiting: deque[Task] = deque()
        self._tasks: dict[tuple[Path | None, str], Task] = {}
        self._labs: list[LabThread] = []
        self._abandoned: set[str] = set()

    def submit(self, job: PoolJob, slots: int, listener: Listener) -> Task:
        """Put in a trial, or join those who already wait for it.

        Raises:
            LabError: the campaign has been abandoned here.
        """
        with self.lock:
            self._slots = slots
            if job.campaign in self._abandoned:
                raise LabError("the campaign was ended")
            task = self._tasks.get(job.key)
            if task is None:
                task = self._tasks[job.key] = Task(job)
                self._waiting.append(task)
            task.listeners.append(listener)
            task.campaigns.add(job.campaign)
            self.spread()
        return task

    def spread(self) -> None:
        """Give what waits to new labs while there may be more, else ahead to one of its kind."""
        with self.lock:
            for task in tuple(self._waiting):
                if len(self._labs) < self._slots:
                    lab = LabThread(self, task)
                    self._labs.append(lab)
                    lab.start()
                else:
                    takers = [lab for lab in self._labs if lab.takes(task.job)]
                    if not takers:
                        continue
                    min(takers, key=lambda lab: len(lab.tasks)).give(task)
                self._waiting.remove(task)

    def close(self, task: Task, outcome: Outcome | Exception) -> None:
        """A trial has its outcome."""
        with self.lock:
            del self._tasks[task.job.key]
        task.close(outcome)

    def left(self, lab: LabThread, unstarted: list[Task]) -> None:
        """A lab is gone; its place is free, and what it had not started goes back."""
        with self.lock:
            self._labs.remove(lab)
            self._waiting.extendleft(reversed(unstarted))
            self.spread()

    def abandon(self, campaign: str) -> None:
        """A campaign waits for its trials no more: end the labs that have some of nobody else's."""
        with self.lock:
            self._abandoned.add(campaign)
            for task in self._tasks.values():
                task.campaigns.discard(campaign)
            for task in [t for t in self._waiting if not t.campaigns]:
                self._waiting.remove(task)
                self.close(task, ABANDONED)
            labs = [x for x in self._labs if any(not t.campaigns for t in x.tasks)]
        for lab in labs:
            lab.abandon()

    def end(self) -> None:
        """End every lab, and wait until they are gone."""
        with self.lock:
            campaigns = {one for task in self._tasks.values() for one in task.campaigns}
        for campaign in campaigns:
            self.abandon(campaign)
        self.wait()

    @property
    def running(self) -> int:
        """The number of labs that are not gone yet."""
        with self.lock:
            return len(self._labs)

    def wait(self) -> None:
        """Wait until every lab is gone."""
        with self.lock:
            labs = tuple(self._labs)
        for lab in labs:
            lab.join()


class LabThread(threading.Thread):
    """One lab and the trials it runs."""

    def __init__(self, pool: LabPool, first: Task) -> None:
        super().__init__(name="lab", daemon=True)
        self.pool = pool
        self.kind = first.job.kind
        self.tasks: deque[Task] = deque([first])
        self._lab: Lab | None = None
        self._ending = False
        self._abandoned = False
        self._names = {first.job.trial.name}  # whose results may be in its folder
        self._start = (0.0, 0.0)

    def run(self) -> None:
        """Boot, feed, collect; a lab that dies costs the trial under way."""
        try:
            self._work()
        except LabError as error:
            self._lost(Outcome(reason=f"{error}\n{error.console}".strip()))
        except Exception as error:  # noqa: BLE001 (raised where the trial is awaited)
            self._lost(error)
        finally:
            self.pool.left(self, list(self.tasks))

    def _work(self) -> None:
        job = self.tasks[0].job
        topology = job.trial.plan.topology
        kernel, receiver, layer = job.trial.kernel, job.trial.receiver, job.trial.layer
        spec = LabSpec(
            pairs=topology.pairs, clock=job.clock, kernel=kernel, receiver=receiver, gdb=job.gdb,
            shares={layer.name: layer.folder} if layer else {},
            only=(job.trial.name, job.trial.plan),
        )  # fmt: skip
        with session(job.lab, spec) as lab:
            with self.pool.lock:
                if self._abandoned:
                    raise LabError("the campaign was ended")
                self._lab = lab
                if not lab.sealed:
                    lab.submit_network(topology)
                    self._submit(lab, self.tasks[0])
            try:
                for event in lab.events():
                    self._follow(lab, event)
            finally:
                with self.pool.lock:
                    self._ending = True  # before the folder goes in which it is given trials

    def takes(self, job: PoolJob) -> bool:
        """Can this lab be given one more job? Of one name there is one trial at a time in it."""
        if self._lab is None or self._lab.sealed:
            return False
        ready = not self._ending and len(self.tasks) < AHEAD
        return ready and job.kind == self.kind and job.trial.name not in self._names

    def give(self, task: Task) -> None:
        """One more trial; the pool's lock is held. One that cannot be made ready has failed."""
        assert self._lab is not None
        try:
            self._submit(self._lab, task)
        except LabError as error:
            self.pool.close(task, Outcome(reason=str(error)))
        else:
            self.tasks.append(task)
            self._names.add(task.job.trial.name)

    def _submit(self, lab: Lab, task: Task) -> None:
        trial = task.job.trial
        lab.submit_trial(trial.name, trial.plan)

    def abandon(self) -> None:
        """End the lab, without waiting for it."""
        self._abandoned = True
        if self._lab is not None:
            threading.Thread(target=self._lab.kill, daemon=True).start()

    def _follow(self, lab: Lab, event: dict[str, Any]) -> None:
        kind = event["event"]
        if kind == "trial-begin":
            self._held_before_s = lab.hold.held_s
            self._start = (time.monotonic() - lab.hold.held_s, lab.cpu_s())
            trial, folder = self.tasks[0].job.trial, str(lab.run_directory)
            self.tasks[0].emit(
                TrialStarted(
                    trial=trial.name,
                    lab=folder,
                    waits=lab.exact,
                    duration_s=float(trial.plan.workload.duration_s),
                )
            )
            self.pool.spread()
        elif kind == "progress":
            name = self.tasks[0].job.trial.name
            held_s = round(lab.hold.held_s - self._held_before_s, 3)
            self.tasks[0].emit(TrialProgress(trial=name, virtual_s=event["second"], held_s=held_s))
        elif kind == "trial-end":
            self._finish(lab, self._go_on(lab))
        elif kind == "trial-failed":
            self._close(lab, self._go_on(lab), Outcome(reason=event["error"]))
        elif kind == "failed":
            raise LabError(event["error"], lab.console())

    def _go_on(self, lab: Lab) -> Task:
        """Take off the trial that has ended; a lab without another one ends."""
        with self.pool.lock:
            ended = self.tasks.popleft()
            self.pool.spread()
            if not self.tasks:
                self._ending = True
                lab.submit({"kind": "end"})
        return ended

    def _finish(self, lab: Lab, task: Task) -> None:
        costs = {
            "wall_s": round(time.monotonic() - lab.hold.held_s - self._start[0], 3),
            "cpu_s": round(lab.cpu_s() - self._start[1], 3),
        }
        try:
            outcome: Outcome | Exception = deliver(task.job, lab, costs)
        except Exception as error:  # noqa: BLE001 (that trial's failure, or raised where awaited)
            outcome = error if disk_full(error) else Outcome(reason=no_record(error))
        self._close(lab, task, outcome)

    def _close(self, lab: Lab, task: Task, outcome: Outcome | Exception) -> None:
        """A trial of a lab that goes on; tried again there it finds nothing of this attempt."""
        name = task.job.trial.name
        lab.forget(name)
        self.pool.close(task, outcome)
        with self.pool.lock:
            self._names.discard(name)
            self.pool.spread()

    def _lost(self, outcome: Outcome | Exception) -> None:
        """The lab is gone: the trial under way has failed, unless it was ended for another's."""
        with self.pool.lock:
            tasks, self.tasks = self.tasks, deque()
            for place, task in enumerate(tasks):
                if not task.campaigns:
                    self.pool.close(task, ABANDONED)
                elif not self._abandoned and (place == 0 or isinstance(outcome, Exception)):
                    self.pool.close(task, outcome)
                else:
                    self.tasks.append(task)


def deliver(job: PoolJob, lab: Lab, costs: dict[str, float]) -> Outcome:
    """Make the record of a trial that has ended, in the campaign's folder or packed.

    What the lab left is taken out of its reach first, and nothing is made within that: the lab goes
    on, and could put links where this process writes.

    Raises:
        LabError: what ran it may be something else than the trial's name says.
    """
    runs = (job.lab, job.trial.kernel, job.trial.receiver, job.trial.layer_folder)
    ran = identity.software(*runs)
    if identity.found(*runs) != ran:
        raise LabError(
            "the project's files or set-up's products changed while the trial ran;"
            " run the trial again"
        )
    name = job.trial.name
    software = {"lab": job.lab, "clock": job.clock, **ran}
    with temporary.folder("record") as here:
        lab.take(name, here / "raw")
        record.finish(job.trial, software, here / "raw", job.records or here, costs)
        return Outcome(record=archive.pack(here / name) if job.records is None else None)


def no_record(error: Exception) -> str:
    """Why a trial has no record, in a sentence."""
    if isinstance(error, KeyError):  # the common mistake of a new workload
        return (
            f"its record could not be made: its lab gave no fact {error}; a workload of your own"
            " gives its facts in summary() (workload/source.py)"
        )
    kind = "" if isinstance(error, LabError) else f"{type(error).__name__}: "
    return f"its record could not be made: {kind}{error}"


def disk_full(error: Exception) -> bool:
    """Is it nothing of the one trial's, but what every other would meet too?"""
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EROFS)


POOL = LabPool()
