# SPDX-License-Identifier: GPL-2.0-only
"""The interface of a capture. Each file in `captures/` is one kind of capture.

The file defines three classes:

    Settings   a frozen dataclass with its keys of the experiment's table [record]. Each key has a
               default with which nothing is recorded. The constructor checks the values
               (ValueError).
    Wanted     a frozen dataclass with the same settings in the lab's units. The plan stores it, in
               one table with the keys of all captures. Wanted may have `kernel_options`: the
               Kconfig options that the capture needs. The uml lab then uses such a kernel.
    Capture    records inside the lab, and puts the results into the record

No other file names the kind. The host and the lab import the file: standard library only.
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
    """The part of a lab that a capture uses.

    Attributes:
        pids: name of a host, or commands.BOX -> the process that holds its network namespace.
        ports: the two ends of the middle link.
        folder: the folder into which the capture writes.
    """

    plan: Plan
    pids: Mapping[str, int]
    ports: Sequence[Port]
    folder: Path


class Capture(ABC, Generic[Wanted]):
    """Records for the duration of a `with`. Each trial has one, even if it records nothing.

    Attributes:
        during: "workload": while the workload runs. "trial": from the loading of the queues until
            they are empty.
        check: the name of the trial's check that nothing is missing.
        unit: the unit of this check.
    """

    during: ClassVar[Literal["trial", "workload"]] = "workload"
    check: ClassVar[str] = "capture"
    unit: ClassVar[str] = "rows"

    def __init__(self, wanted: Wanted, site: Site) -> None:
        self.wanted = wanted
        self.site = site

    @abstractmethod
    def __enter__(self) -> object:
        """Begin if anything is to be recorded."""

    @abstractmethod
    def __exit__(self, *error: object) -> None:
        """End; raise an exception if the recording failed."""

    def drained(self) -> None:  # noqa: B027
        """Read counters of its own, at the moment at which the trial reads its counters at the end.

        All queues are empty then. The capture may have ended before.
        """

    def facts(self) -> dict[str, Any]:
        """Return keys for lab.json. The lab calls this after the end of the capture."""
        return {}

    @staticmethod
    def missing(facts: TrialFacts) -> int | None:
        """Return how much a record lacks, by its facts; None: there is no check. Pure.

        A complete record lacks 0.
        """
        return None

    @classmethod
    @abstractmethod
    def keep(cls, plan: Plan, raw: Path, t0_ns: int, folder: Path) -> None:
        """Put the recording into a record; this runs on the host.

        Args:
            raw: the folder of the lab's results. It has only recorded files.
            t0_ns: the start of the trial on the lab's clock; times in the record count from it.
            folder: the folder of the record.
        """

    @classmethod
    def so_far(cls, plan: Plan, raw: Path, t0_ns: int, folder: Path) -> None:  # noqa: B027
        """Make the tables of a running trial as keep() will make them; this runs on the host.

        The input is a copy of the lab's files, with complete lines and records. The last second of
        the lab may be missing.
        """


class RecordingError(RuntimeError):
    """A recording is not complete; the text names the program and has its output."""


class Programs(Capture[Wanted]):
    """A capture by programs that end with status 0 at SIGTERM.

    Attributes:
        announces: whether each program writes a line to its output when it records.

    Raises:
        RecordingError: at the end, if a program ended early or could not write.
    """

    announces: ClassVar[bool] = False

    @abstractmethod
    def commands(self) -> Sequence[Sequence[str]]:
        """Return the commands to run; none if nothing is to be recorded."""

    def __enter__(self) -> object:
        self._processes = []
        output = subprocess.PIPE if self.announces else None
        with ExitStack() as begun:
            for argv in self.commands():
                process = subprocess.Popen(
                    argv, cwd=PROJECT, env=ENVIRONMENT, stdout=output, stderr=subprocess.PIPE,
                    text=True,
                )  # fmt: skip
                begun.callback(killed, process)
                self._processes.append(process)
            for process in self._processes if self.announces else ():
                assert process.stdout is not None
                process.stdout.readline()  # nothing, if it failed: the end of the trial tells it
            begun.pop_all()
        return self

    def __exit__(self, kind: object = None, *rest: object) -> None:
        for process in self._processes:
            process.send_signal(signal.SIGTERM)
        failed = [said for process in self._processes if (said := failure(process))]
        if failed and kind is None:
            raise RecordingError("; ".join(failed))


def killed(process: subprocess.Popen[str]) -> None:
    """End a program of a recording that does not begin; nobody reads its output."""
    process.kill()
    process.communicate()


def failure(process: subprocess.Popen[str]) -> str:
    """Wait for the end of a program; return its output if it failed, else ""."""
    _, said = process.communicate(timeout=END_S)
    if process.returncode == 0:
        return ""
    assert isinstance(process.args, list)
    argv = " ".join(process.args)
    return f"{argv}: status {process.returncode}: {' '.join(said.split()) or 'no word'}"


class Series(Capture[Wanted]):
    """A table that a thread writes, with at least one row in each period.

    Attributes:
        file: the name of the table's file.
        columns: the columns after time_ns.
    """

    file: ClassVar[str]
    columns: ClassVar[Sequence[str]]

    @property
    @abstractmethod
    def period_ns(self) -> int:
        """The time between two samples [ns]; 0: nothing is to be recorded."""

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Hold the resources of rows() while the capture runs."""
        yield

    @abstractmethod
    def rows(self) -> Iterable[Sequence[object]]:
        """Return one sample: rows of `columns`, without the time."""

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
                        stream.flush()  # a user may read the file during the trial
                    due_ns += self.period_ns
        except Exception as failure:  # noqa: BLE001 (raised where the trial ends)
            self._failure = failure

    @classmethod
    def keep(cls, plan: Plan, raw: Path, t0_ns: int, folder: Path) -> None:
        if (raw / cls.file).exists():
            write_from_start(raw / cls.file, t0_ns, folder / cls.file)

    so_far = keep


def write_from_start(source: Path, t0_ns: int, target: Path) -> None:
    """Copy a table from the trial's start on; its first column is the lab's clock [ns]."""
    with (
        source.open(newline="", encoding="ascii") as before,
        target.open("w", newline="", encoding="ascii") as after,
    ):
        rows, table = csv.reader(before), csv.writer(after)
        table.writerow(next(rows))
        times = ((int(time_ns) - t0_ns, rest) for time_ns, *rest in rows)
        table.writerows((time_ns, *rest) for time_ns, rest in times if time_ns >= 0)
