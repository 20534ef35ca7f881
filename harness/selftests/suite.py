# SPDX-License-Identifier: GPL-2.0-only
"""Runs tests on several kernels, by several clocks, and again; as many labs as fit at a time."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from harness.selftests import watch
from harness.selftests.choice import RUN_BY_IT, Test
from harness.selftests.lab import Work, run
from harness.selftests.outcome import VERDICTS, Outcome

TOGETHER = 12  # scripts of packetdrill in a lab: its boot is a small part, and two labs share 24


@dataclass(kw_only=True)
class Runs:
    """What came of one test on one kernel by one clock, by repetitions.

    Attributes:
        first: the first repetition.
        odd_number: of the first that said something else than the first, 0 without any.
        failed: the first that failed; without any, the first whose verdict was not that of the
            first, because one of the two must be wrong.
        failed_number: its number.
        verdicts: how many repetitions had each.
        said, sent: digests of what was said and sent, with how often.
        took: durations by the lab's clock [s], with how often.
        other: of output, duration and packets those that once differed from the first
            repetition's, and the first repetition in which they did.
    """

    first: Outcome
    odd_number: int = 0
    failed: Outcome | None = None
    failed_number: int = 0
    verdicts: dict[str, int] = field(default_factory=dict)
    said: dict[str, int] = field(default_factory=dict)
    sent: dict[str, int] = field(default_factory=dict)
    took: dict[str, int] = field(default_factory=dict)
    other: dict[str, int] = field(default_factory=dict)

    def add(self, number: int, outcome: Outcome) -> None:
        """Count a repetition."""
        for seen, value in (
            (self.verdicts, outcome.verdict), (self.said, outcome.said),
            (self.sent, outcome.sent), (self.took, f"{outcome.took_s:.2f}"),
        ):  # fmt: skip
            seen[value] = seen.get(value, 0) + 1
        for what in self.first.differences(outcome):
            self.other.setdefault(what, number)
        self.odd_number = self.other.get("output", 0)
        if self.wrong(outcome):
            self.failed, self.failed_number = outcome, number

    def wrong(self, outcome: Outcome) -> bool:
        """Is this outcome the first that failed, or the first of another verdict?"""
        if outcome.verdict == "fail":
            return self.failed is None or self.failed.verdict != "fail"
        return self.failed is None and outcome.verdict != self.first.verdict

    @property
    def verdict(self) -> str:
        """That of all repetitions; fail where they differ."""
        return next(iter(self.verdicts)) if len(self.verdicts) == 1 else "fail"

    @property
    def why(self) -> str:
        """The first thing that was said of the failure; empty if there is none."""
        if self.failed is None or self.failed.verdict == "fail":
            return self.failed.why if self.failed else ""
        verdicts = f"{self.first.verdict} and {self.failed.verdict}"
        return f"two runs have different verdicts: {verdicts} (run {self.failed_number})"


@dataclass(frozen=True, order=True)
class Row:
    """A kernel and a clock."""

    kernel: str
    clock: str


@dataclass(frozen=True, kw_only=True)
class Task:
    """A test that is to run as often as asked."""

    row: Row
    test: Test
    work: Work


Found = dict[Row, dict[Test, Runs]]
Missing = dict[Row, dict[Test, int]]  # how many runs of a test were asked for and did not end


def labs_of(tasks: Sequence[Task], alone: bool) -> list[list[Task]]:
    """The tasks by the lab that runs them in turn.

    Scripts of packetdrill share labs: the boot of a lab costs more than a script, and the tree's
    runner gives each run of packetdrill its own network. Other tests may change the whole machine.

    Args:
        alone: each task has a lab of its own.
    """
    labs: list[list[Task]] = []
    shared: dict[tuple[Row, Work], list[Task]] = {}
    for task in tasks:
        if alone or not task.test.file.endswith(RUN_BY_IT):
            labs.append([task])
            continue
        lab = shared.get(key := (task.row, task.work.shared))
        if lab is None or len(lab) == TOGETHER:
            lab = shared[key] = []
            labs.append(lab)
        lab.append(task)
    return labs


def execute(
    tasks: Sequence[Task], repeat: int, jobs: int, told: Callable[[Task, int, Outcome], None],
    waiting: Callable[[int], None] = lambda labs: None, alone: bool = False,
    lab_ended: Callable[[], None] = lambda: None,
) -> tuple[Found, bool]:  # fmt: skip
    """Run all, each test once before any is repeated; also says whether all of them ended.

    After Ctrl-C it starts no more labs, and waits for those that run. After another Ctrl-C it ends
    them, and gives what had ended before. An error ends them, too.

    Args:
        jobs: how many labs at a time.
        told: called with each outcome and the number of its repetition, in the order in which
            they end.
        waiting: called after Ctrl-C with the number of labs that run.
        alone: each test has a lab of its own.
        lab_ended: called when `told` has heard all outcomes of a lab.

    Raises:
        MissingError: there is no lab.
    """
    found: dict[tuple[Row, Test], dict[int, Outcome]] = {}
    whole = True
    with ThreadPoolExecutor(jobs) as pool:

        def submit(lab: Sequence[Task]) -> Future[list[Outcome]]:
            return pool.submit(run, [task.work for task in lab])

        asked = {
            submit(lab): (lab, number)
            for number in range(1, repeat + 1)
            for lab in labs_of(tasks, alone)
        }

        def take() -> None:
            while asked:
                for ended in as_completed(list(asked)):
                    took(ended)

        def took(ended: Future[list[Outcome]]) -> None:
            lab, number = asked.pop(ended)
            outcomes = ended.result()
            if whole and (rest := lab[len(outcomes) :]):
                asked[submit(rest)] = rest, number
            for task, outcome in zip(lab, outcomes, strict=False):
                kept = outcome
                if number > 1 and outcome.verdict != "fail":  # many of these fill the memory
                    kept = replace(outcome, packets={})
                found.setdefault((task.row, task.test), {})[number] = kept
            for task, outcome in zip(lab, outcomes, strict=False):
                told(task, number, outcome)
            lab_ended()

        try:
            try:
                take()
            except KeyboardInterrupt:
                whole = False
                pool.shutdown(wait=False, cancel_futures=True)
                for one in [one for one in asked if one.cancelled()]:
                    del asked[one]
                waiting(len(asked))
                take()
        except KeyboardInterrupt:
            watch.end_all.set()
            with deaf():
                pool.shutdown()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            watch.end_all.set()
            raise
    order = [(task.row, task.test) for task in tasks]
    return gathered({key: found[key] for key in order if key in found}), whole


@contextmanager
def deaf() -> Iterator[None]:
    """Ctrl-C does nothing here: it would make nothing quicker, and would lose results."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def missing(tasks: Sequence[Task], repeat: int, found: Found) -> Missing:
    """The runs that were asked for and did not end."""
    rows: Missing = {}
    for task in tasks:
        runs = found.get(task.row, {}).get(task.test)
        if rest := repeat - (sum(runs.verdicts.values()) if runs else 0):
            rows.setdefault(task.row, {})[task.test] = rest
    return rows


def gathered(found: dict[tuple[Row, Test], dict[int, Outcome]]) -> Found:
    """By kernel and clock, then by test, in the order of repetitions."""
    rows: Found = {}
    for (row, test), outcomes in found.items():
        first, *_ = numbers = sorted(outcomes)
        runs = Runs(first=outcomes[first])
        for number in numbers:
            runs.add(number, outcomes[number])
        rows.setdefault(row, {})[test] = runs
    return {row: dict(sorted(tests.items())) for row, tests in rows.items()}


def flaky(row: Row, runs: Runs) -> bool:
    """Did repetitions differ where nothing lets them, by the virtual clock?"""
    return row.clock == "virtual" and bool(runs.other)


def counts(tests: dict[Test, Runs]) -> dict[str, int]:
    """How many tests have each verdict."""
    return {word: sum(runs.verdict == word for runs in tests.values()) for word in VERDICTS}


def failures(tests: dict[Test, Runs]) -> Iterator[tuple[Test, Runs]]:
    """Those of which a repetition failed, or repetitions had different verdicts."""
    return ((test, runs) for test, runs in tests.items() if runs.failed is not None)
