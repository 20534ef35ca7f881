# SPDX-License-Identifier: GPL-2.0-only
"""Runs trials in the labs of this process."""

from __future__ import annotations

import queue
import uuid
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path

from harness.design.trials import PlannedTrial
from harness.events import Listener
from harness.runners.lab_pool import POOL, Outcome, PoolJob
from harness.runners.options import Options


class LocalRunner:
    """A runner whose trials are tasks of this process's pool of labs."""

    def __init__(self, options: Options, records: Path, listener: Listener) -> None:
        self._options = options
        self._records = records
        self._listener = listener
        self._submitted = 0
        self._ended: queue.SimpleQueue[tuple[PlannedTrial, Future[Outcome]]] = queue.SimpleQueue()
        self._campaign = f"cellbed-{uuid.uuid4().hex}"

    def submit(self, trial: PlannedTrial) -> None:
        job = PoolJob(
            trial=trial,
            lab=self._options.lab,
            clock=self._options.clock,
            campaign=self._campaign,
            records=self._records,
            gdb=self._options.gdb,
        )
        task = POOL.submit(job, self._options.jobs, self._listener)
        self._submitted += 1
        task.outcome.add_done_callback(lambda outcome: self._ended.put((trial, outcome)))

    def outcomes(self) -> Iterator[tuple[PlannedTrial, Outcome]]:
        while self._submitted:
            trial, outcome = self._ended.get()
            self._submitted -= 1
            yield trial, outcome.result()

    def end(self) -> None:
        """End the labs that still work for this campaign, and wait until they are gone."""
        POOL.abandon(self._campaign)
        POOL.wait()


@contextmanager
def local_runner(options: Options, records: Path, listener: Listener) -> Iterator[LocalRunner]:
    """A runner with `options.jobs` labs at a time."""
    made = LocalRunner(options, records, listener)
    try:
        yield made
    finally:
        made.end()
