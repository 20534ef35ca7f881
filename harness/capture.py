# SPDX-License-Identifier: GPL-2.0-only
"""What a capture is: the interface of the files in `captures/`, one kind each.

Such a file has

    Settings   a frozen dataclass: its keys in an experiment's table [record], all with a default
               by which nothing is recorded; checked when it is made (ValueError)
    Wanted     a frozen dataclass: the same in the lab's units, as it stands in the plan, where
               the keys of all captures are side by side; it may have `kernel_options`, names of
               Kconfig's without which no kernel can record it (the uml lab then has such a kernel)
    Capture    records inside the lab, and brings what it left into the record

Nothing else names the file. Standard library only: it is read on the host and in the lab.
"""

from __future__ import annotations

import csv
import signal
import subprocess
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Generic, Literal, TypeVar

from plan.facts import TrialFacts
from plan.plan import Plan
from plan.queue import Port
from topology.clock import NS_PER_S
from topology.run import ENVIRONMENT

PROJECT = Path(__file__).resolve().parents[1]
MOST_PERIOD_MS = 100_000
END_S = 60
Wanted = TypeVar("Wanted")


@dataclass(frozen=True, kw_only=True)
class Site:
    """What a capture finds in a lab.

    Attributes:
        pids: name of a host, or commands.BOX -> the process that holds its network namespace.
        ports: the two ends of the middle link.
        folder: takes what it records.
    """

    plan: Plan
    pids: Mapping[str, int]
    ports: Sequence[Port]
    folder: Path


class Capture(ABC, Generic[Wanted]):
    """Records for the duration of a `with`; there is one in each trial, wanted or not.

    Attributes:
        during: the workload only, or all of the trial: from loaded queues to drained ones.
        check: name of the trial's check that nothing is missing, and of what [unit].
    """

    during: ClassVar[Literal["trial", "workload"]] = "workload"
    check: ClassVar[str] = "capture"
    unit: ClassVar[str] = "rows"

    def __init__(self, wanted: Wanted, site: Site) -> None:
        self.wanted = wanted
        self.site = site

    @abstractmethod
    def __enter__(self) -> object:
        """Begin, where anything is wanted."""

    @abstractmethod
    def __exit__(self, *error: object) -> None:
        """End; an exception where it has not recorded what was wanted."""

    def facts(self) -> dict[str, Any]:
        """Keys of lab.json; asked for after the end."""
        return {}

    @staticmethod
    def missing(facts: TrialFacts) -> int | None:
        """By a record's facts, how much is missing, 0 by right; None: there is no check. Pure."""
        return None

    @classmethod
    @abstractmethod
    def keep(cls, plan: Plan, raw: Path, t0_ns: int, folder: Path) -> None:
        """On the host: bring what was recorded into a record.

        Args:
            raw: the folder of the lab's results; what was not wanted is not there.
            t0_ns: start of the trial on the lab's clock; times in the record count from it.
            folder: the record's.
        """

    @classmethod
    def so_far(cls, plan: Plan, raw: Path, t0_ns: int, folder: Path) -> None:  # noqa: B027
        """On the host, of a trial that runs: bring its tables as keep() will, from a copy of
        what the lab has written, whole lines and records; a second of the lab may be missing.
        """


class RecordingError(RuntimeError):
    """What was recorded is not whole; says by which program and what it said."""


class Programs(Capture[Wanted]):
    """Recorded by programs that end, with status 0, when told to.

    Raises:
        RecordingError: at the end, where a program did not live to it or could not write.
    """

    @abstractmethod
    def commands(self) -> Sequence[Sequence[str]]:
        """What to run; nothing where nothing is wanted."""

    def __enter__(self) -> object:
        self._processes = []
        with ExitStack() as begun:
            for argv in self.commands():
                process = subprocess.Popen(
                    argv, cwd=PROJECT, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True
                )
                begun.callback(killed, process)
                self._processes.append(process)
            begun.pop_all()
        return self

    def __exit__(self, kind: object = None, *rest: object) -> None:
        for process in self._processes:
            process.send_signal(signal.SIGTERM)
        failed = [said for process in self._processes if (said := failure(process))]
        if failed and kind is None:
            raise RecordingError("; ".join(failed))


def killed(process: subprocess.Popen[str]) -> None:
    """End a program of a recording that does not begin; nobody reads what it wrote."""
    process.kill()
    process.communicate()


def failure(process: subprocess.Popen[str]) -> str:
    """Wait for the end of a program; what it says of its failure, "" without one."""
    _, said = process.communicate(timeout=END_S)
    if process.returncode == 0:
        return ""
    assert isinstance(process.args, list)
    argv = " ".join(process.args)
    return f"{argv}: status {process.returncode}: {' '.join(said.split()) or 'no word'}"


class Series(Capture[Wanted]):
    """A table with a row or more a period, written by a thread.

    Attributes:
        file: its name.
        columns: those behind time_ns.
    """

    file: ClassVar[str]
    columns: ClassVar[Sequence[str]]

    @property
    @abstractmethod
    def period_ns(self) -> int:
        """From one sample to the next; 0: nothing is wanted."""

    @contextmanager
    def opened(self) -> Iterator[None]:
        """What rows() needs, for as long as it is asked."""
        yield

    @abstractmethod
    def rows(self) -> Iterable[Sequence[object]]:
        """A sample: rows of `columns`, without the time."""

    def __enter__(self) -> object:
        self._failure: Exception | None = None
        self._end = threading.Event()
        self._until_end = ExitStack()
        if self.period_ns:
            with ExitStack() as begun:
                begun.enter_context(self.opened())
                thread = threading.Thread(target=self._follow, daemon=True)
                thread.start()
                begun.callback(thread.join)
                begun.callback(self._end.set)
                self._until_end = begun.pop_all()
        return self

    def __exit__(self, kind: object = None, *rest: object) -> None:
        self._until_end.close()
        if self._failure is not None and kind is None:
            raise RuntimeError(f"{self.file}: {self._failure}") from self._failure

    def _follow(self) -> None:
        try:
            path = self.site.folder / self.file
            with path.open("w", newline="", encoding="ascii") as stream:
                table = csv.writer(stream)
                table.writerow(("time_ns", *self.columns))
                due_ns = time.monotonic_ns() // self.period_ns * self.period_ns
                while not self._end.wait((due_ns - time.monotonic_ns()) / 1e9):
                    table.writerows((due_ns, *row) for row in self.rows())
                    if due_ns % NS_PER_S < self.period_ns:
                        stream.flush()  # for whoever looks at the trial while it runs
                    due_ns += self.period_ns
        except Exception as failure:  # noqa: BLE001 (raised where the trial ends)
            self._failure = failure

    @classmethod
    def keep(cls, plan: Plan, raw: Path, t0_ns: int, folder: Path) -> None:
        if (raw / cls.file).exists():
            write_from_start(raw / cls.file, t0_ns, folder / cls.file)

    so_far = keep


def write_from_start(source: Path, t0_ns: int, target: Path) -> None:
    """Copy a table whose first column is the lab's clock [ns], from the trial's start on."""
    with (
        source.open(newline="", encoding="ascii") as before,
        target.open("w", newline="", encoding="ascii") as after,
    ):
        rows, table = csv.reader(before), csv.writer(after)
        table.writerow(next(rows))
        times = ((int(time_ns) - t0_ns, rest) for time_ns, *rest in rows)
        table.writerows((time_ns, *rest) for time_ns, rest in times if time_ns >= 0)
