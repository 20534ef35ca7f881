# SPDX-License-Identifier: GPL-2.0-only
"""Runs the trials of an experiment, here or on other machines, and takes up where it left.

A campaign is a directory: campaign.json, trials/ with one record each, events.jsonl with all
that happened. Whatever ends it, the whole records stay, and running it again does only what is
missing. A trial with a record is done, be it valid or not: run again it would be the same.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from analysis.campaign_file import FORMAT, CampaignFile, commits_of, read_header
from analysis.campaign_file import NAME as HEADER
from analysis.errors import RecordError
from analysis.records import read_facts
from harness import events
from harness.campaign import costs, listing
from harness.campaign.lock import NAME as LOCK
from harness.campaign.lock import locked, only_begun, open_lock
from harness.design.trials import PlannedTrial
from harness.events import (
    CampaignEnded,
    CampaignInterrupted,
    CampaignStarted,
    Event,
    EventLog,
    Listener,
    TrialEnded,
    TrialFailed,
    TrialJudged,
)
from harness.host import checkout
from harness.host.ownership import make_folder
from harness.judge import judgement
from harness.judge.judgement import Judged
from harness.records import archive
from harness.records.whole import append_whole, drop_torn_line, write_whole
from harness.runners.lab_pool import Outcome
from harness.runners.options import Options, Runner
from harness.runners.runner import runner
from plan.errors import UsageError

ATTEMPTS = 2

Document = dict[str, Any]


class CampaignRun:
    """One campaign directory and the trials it is to hold.

    Args:
        folder: made if it is not there.
        trials: all that the campaign wants.
        header: what campaign.json says beside its format and its trials.
        options: see Options.
        listener: called with each event, from any thread; events.jsonl has had it then.
        every: all trials of the experiment, of which the campaign may want a part.
    """

    def __init__(
        self,
        folder: Path,
        trials: Sequence[PlannedTrial],
        header: Document,
        options: Options,
        listener: Listener = events.ignore,
        every: Sequence[PlannedTrial] = (),
    ) -> None:
        self.folder = folder
        self.trials = list(trials)
        self.header = header
        self.options = options
        self.listener = listener
        self.every = list(every) or self.trials
        self.failures: dict[str, list[str]] = {}
        self.judged = Judged()
        self._log = EventLog(self._append)
        self._under_way: set[str] = set()

    @property
    def records(self) -> Path:
        """Folder of the finished trials."""
        return self.folder / "trials"

    def finished(self) -> set[str]:
        """Names of the trials of this plan that have a record."""
        return {trial.name for trial in self.trials if (self.records / trial.name).exists()}

    def done(self) -> dict[str, Document]:
        """Finished trials of this plan: name -> all of the record, judged by the present code.

        Raises:
            UsageError: a record that cannot be read.
        """
        finished = self.finished()
        return {t.name: self._document(t) for t in self.trials if t.name in finished}

    def _document(self, trial: PlannedTrial) -> Document:
        """All of a trial's record."""
        try:
            return judgement.document(self.records / trial.name)
        except RecordError as error:
            raise damaged(self.records / trial.name, str(error)) from error

    def recorded(self) -> list[Document]:
        """The facts of every record of the folder that can be read, also of other plans."""
        found = []
        for folder in judgement.records(self.folder):
            with suppress(RecordError):
                found.append(read_facts(folder))
        return found

    def run(self) -> dict[str, Document]:
        """Run what is missing; returns every finished trial of the plan, as done().

        `judged` then tells which records had to be judged anew.

        Raises:
            UsageError: the folder is not this experiment's, cannot be written, or another process
                is at work in it.
        """
        with self.held():
            self._prepare()
            self._judge_anew()
            with self._telling():
                self._run_missing()
            return self.done()

    @contextmanager
    def held(self) -> Iterator[None]:
        """The folder, made if it is not there, for this process alone; UsageError as run()."""
        self._make_folder()
        with locked(self.folder):
            self.check_folder()
            yield

    def _make_folder(self) -> None:
        """Make the folder, unless it is there, and see that something can be written into it."""
        try:
            self.check_folder()
            make_folder(self.folder)
            os.close(open_lock(self.folder / LOCK))
        except OSError as error:
            raise unwritable(self.folder, error.filename, error.strerror) from error

    def _judge_anew(self) -> None:
        """Bring the judgement of what is there up to date, before anything goes by it."""
        self.judged = judgement.bring_up_to_date([self.records / n for n in self.finished()])
        for name, why in self.judged.unreadable.items():
            raise damaged(self.records / name, why)

    @contextmanager
    def _telling(self) -> Iterator[None]:
        """The first and the last event of this process."""
        options, finished = self.options, self.finished()
        self._emit(
            CampaignStarted(
                experiment=self.header["name"],
                lab=options.lab,
                clock=options.clock,
                jobs=None if options.cluster else options.jobs,
                scheduler=options.cluster.address if options.cluster else None,
                trials=tuple(trial.name for trial in self.trials),
                finished=tuple(t.name for t in self.trials if t.name in finished),
            )
        )
        try:
            yield
        except BaseException as error:
            reason = str(error) or type(error).__name__
            with suppress(OSError):  # it may be what ended the campaign
                self._emit(CampaignInterrupted(reason=reason))
            raise
        left = len(self.trials) - len(self.finished())
        self._emit(CampaignEnded(finished=len(self.trials) - left, failed=left))

    def _run_missing(self) -> None:
        missing = self._missing()
        if missing:
            self._under_way = {trial.name for trial in missing}
            options = replace(self.options, jobs=min(self.options.jobs, len(missing)))
            with runner(options, self.records, self._from_runner) as made:
                self._run(made, missing)

    def _run(self, runner: Runner, missing: Sequence[PlannedTrial]) -> None:
        """All trials, and those of which a lab left no record once more."""
        for trial in missing:
            runner.submit(trial)
        for trial, outcome in runner.outcomes():
            reason = outcome.reason or self._keep(trial, outcome)
            if reason is None:
                self._end(trial)
            elif self._fail(trial, reason):
                runner.submit(trial)

    def check_folder(self) -> None:
        """Refuse a folder that is another experiment's, or holds what is no campaign."""
        path = self.folder / HEADER
        if path.exists():
            try:
                name = read_header(self.folder).document.get("name")
            except RecordError as error:
                raise UsageError(f"{error}; name another folder with --out") from error
            if name != self.header["name"]:
                raise UsageError(
                    f"{path} belongs to the experiment {name}; name another folder with --out"
                )
        elif not (there := first_existing(self.folder)).is_dir():
            raise unwritable(self.folder, there, "this is a file")
        elif self.folder.is_dir() and not only_begun(self.folder):
            raise UsageError(
                f"{self.folder} has files but no campaign.json; "
                "name an empty or a new folder with --out"
            )

    def check_writable(self) -> None:
        """Refuse a folder that run() could not write to; nothing stays in it."""
        there = first_existing(self.folder)
        try:
            tempfile.TemporaryDirectory(prefix=".cellbed-", dir=there).cleanup()
        except OSError as error:
            raise unwritable(self.folder, there, error.strerror) from error

    def _prepare(self) -> None:
        """Write the header, and sweep what a killed campaign left; the lock is held."""
        before = read_header(self.folder) if (self.folder / HEADER).exists() else None
        known = (before.trials if before else None) or ()
        trials = listing.listed(known, self.records, self.every, self.options)
        header = {
            "format": FORMAT,
            **self.header,
            "commits": self._commits(before),
            "trials": [asdict(entry) for entry in trials],
        }
        write_whole(self.folder / HEADER, json.dumps(header, indent=1) + "\n")
        make_folder(self.records)
        for left in self.records.glob(".*.partial"):
            shutil.rmtree(left)
        drop_torn_line(self.folder / events.NAME)

    def _commits(self, header: CampaignFile | None) -> list[str]:
        """Of the project: at which trials of this folder were run, or are about to be."""
        before = commits_of(header.document) if header else []
        now = [checkout.commit()] if self._missing() else []
        return list(dict.fromkeys(str(one) for one in [*before, *now] if one))

    def _missing(self) -> list[PlannedTrial]:
        """Trials without a record, those that can share a lab one after the other."""
        finished = self.finished()
        kinds = list(dict.fromkeys(trial.network_key for trial in self.trials))
        missing = [trial for trial in self.trials if trial.name not in finished]
        return sorted(missing, key=lambda trial: kinds.index(trial.network_key))

    def _keep(self, trial: PlannedTrial, outcome: Outcome) -> str | None:
        """Put a record that comes packed into the folder; why that cannot be done."""
        try:
            if outcome.record is not None:
                archive.unpack(outcome.record, self.records, trial.name)
        except archive.DamagedError as error:
            return str(error)
        return None

    def _end(self, trial: PlannedTrial) -> None:
        """A trial has its record: judge it, and say so."""
        self._under_way.discard(trial.name)
        document = self._document(trial)
        if self.options.cluster is None:
            costs.note(self.options.lab, self.options.clock, trial, document["wall_s"])
        cost = {name: document.get(name, 0.0) for name in ("virtual_s", "wall_s", "cpu_s")}
        failed = tuple(check["name"] for check in document["checks"] if not check["ok"])
        self._emit(TrialEnded(trial=trial.name, **cost))
        self._emit(TrialJudged(trial=trial.name, valid=document["valid"], failed_checks=failed))

    def _fail(self, trial: PlannedTrial, reason: str) -> bool:
        """An attempt left no record; is there another one?"""
        reasons = self.failures.setdefault(trial.name, [])
        reasons.append(reason)
        again = len(reasons) < ATTEMPTS
        if not again:
            self._under_way.discard(trial.name)
        self._emit(
            TrialFailed(trial=trial.name, attempt=len(reasons), reason=reason, retried=again)
        )
        return again

    def _from_runner(self, event: Event) -> None:
        """An event of a trial that comes after its end is of no use."""
        if getattr(event, "trial", None) in (None, *self._under_way):
            self._emit(event)

    def _emit(self, event: Event) -> None:
        self._log(event)
        self.listener(event)

    def _append(self, line: str) -> None:
        append_whole(self.folder / events.NAME, line)


def damaged(folder: Path, why: str) -> UsageError:
    """A record that cannot be used: it is not run over."""
    return UsageError(f"{why}; remove the folder {folder} to run the trial again")


def first_existing(path: Path) -> Path:
    """A path, or the nearest folder above it that exists."""
    return next(one for one in (path, *path.parents) if one.exists())


def unwritable(folder: Path, where: object, why: object) -> UsageError:
    """Why no results can be written to a folder."""
    return UsageError(
        f"the results cannot be written to {folder} ({where}: {why}); "
        "name another folder with --out"
    )
