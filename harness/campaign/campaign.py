# SPDX-License-Identifier: GPL-2.0-only
"""Runs the trials of an experiment, here or on other machines, and takes up where it left.

A campaign is a directory: campaign.json, trials/ with one record each, failures.jsonl with
the reason of every attempt that left no record. Whatever ends it, the whole records stay,
and running it again does only what is missing. A trial with a record is done, be it valid or
not: run again it would be the same.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis.errors import RecordError
from analysis.records import campaign_document, read_facts
from harness.campaign import costs, parcel
from harness.campaign.lock import NAME as LOCK
from harness.campaign.lock import locked
from harness.campaign.whole import append_whole, write_whole
from harness.design.plan import Trial
from harness.errors import UsageError
from harness.host.ownership import make_folder
from harness.judge import judgement
from harness.judge.judgement import Judged
from harness.runners.cluster_address import Cluster
from harness.runners.lab_pool import Outcome

if TYPE_CHECKING:
    from harness.runners.cluster import Crew

FORMAT = "cellbed-campaign/1"
ATTEMPTS = 2

Document = dict[str, Any]
Listener = Callable[[str, Trial, float], None]


@dataclass(frozen=True, kw_only=True)
class Options:
    """How a campaign is run.

    Attributes:
        lab, clock: which lab, and its clock.
        jobs: labs at a time on this machine.
        cluster: whose workers have the labs; None: this machine.
    """

    lab: str = "uml"
    clock: str = "virtual"
    jobs: int = 2
    cluster: Cluster | None = None


class Campaign:
    """One campaign directory and the trials it is to hold.

    Args:
        folder: made if it is not there.
        trials: all that the campaign wants.
        header: what campaign.json says beside its format.
        options: see Options.
        listener: called with (what, trial, seconds), `what` one of "begin", "progress", "again"
            (an attempt failed, there will be another), and last, once a trial, "end" (it has a
            record; virtual seconds) or "failed" (it has none).

    `say` is called with what is to be said of no trial.
    """

    def __init__(
        self,
        folder: Path,
        trials: Sequence[Trial],
        header: Document,
        options: Options,
        listener: Listener,
    ) -> None:
        self.folder = folder
        self.trials = list(trials)
        self.header = header
        self.options = options
        self.listener = listener
        self.failures: dict[str, list[str]] = {}
        self.judged = Judged()
        self.say: Callable[[str], None] = lambda _: None
        self._running: dict[str, Trial] = {}

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

    def _document(self, trial: Trial) -> Document:
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
            UsageError: the folder is not this experiment's, or another process is at work in it.
        """
        self.check()
        make_folder(self.folder)
        with locked(self.folder):
            self.check()
            self._prepare()
            self._judge_anew()
            self._run_missing()
            return self.done()

    def _run_missing(self) -> None:
        from harness.runners.cluster import crew  # slow to import, and most commands need none

        missing = self._missing()
        if missing:
            self._running = {trial.name: trial for trial in missing}
            options = self.options
            with crew(
                options.lab,
                options.clock,
                min(options.jobs, len(missing)),
                options.cluster,
                self.records,
                self._heard,
                self.say,
            ) as workers:
                self._run(workers, missing)

    def _judge_anew(self) -> None:
        """Bring the judgement of what is there up to date, before anything goes by it."""
        self.judged = judgement.bring_up_to_date([self.records / n for n in self.finished()])
        for name, why in self.judged.unreadable.items():
            raise damaged(self.records / name, why)

    def _run(self, workers: Crew, missing: Sequence[Trial]) -> None:
        """All trials, and those of which a lab left no record once more."""
        for trial in missing:
            workers.submit(trial)
        for trial, outcome in workers.outcomes():
            reason = outcome.reason or self._keep(trial, outcome)
            if reason is None:
                del self._running[trial.name]
                self._end(trial)
            elif self._note(trial, reason) < ATTEMPTS:
                self.listener("again", trial, 0.0)
                workers.submit(trial)
            else:
                del self._running[trial.name]
                self.listener("failed", trial, 0.0)

    def check(self) -> None:
        """Refuse a folder that is another experiment's, or holds what is no campaign."""
        path = self.folder / "campaign.json"
        if path.exists():
            try:
                name = campaign_document(self.folder).get("name")
            except RecordError as error:
                raise UsageError(f"{error}; choose another --out") from error
            if name != self.header["name"]:
                raise UsageError(f"{path}: holds experiment {name}; choose another --out")
        elif self.folder.is_dir() and not all(
            x.name == LOCK or x.name.startswith(".campaign.json.") for x in self.folder.iterdir()
        ):
            raise UsageError(
                f"{self.folder}: holds files but no campaign.json; choose an empty or new --out"
            )

    def _prepare(self) -> None:
        """Write the header, and sweep what a killed campaign left; the lock is held."""
        header = {"format": FORMAT, **self.header}
        write_whole(self.folder / "campaign.json", json.dumps(header, indent=1) + "\n")
        make_folder(self.records)
        for left in self.records.glob(".*.partial"):
            shutil.rmtree(left)

    def _missing(self) -> list[Trial]:
        """Trials without a record, those that can share a lab one after the other."""
        finished = self.finished()
        kinds = list(dict.fromkeys(trial.network_key for trial in self.trials))
        missing = [trial for trial in self.trials if trial.name not in finished]
        return sorted(missing, key=lambda trial: kinds.index(trial.network_key))

    def _keep(self, trial: Trial, outcome: Outcome) -> str | None:
        """Put a record that comes as a parcel into the folder; why that cannot be done."""
        try:
            if outcome.record is not None:
                parcel.unpack(outcome.record, self.records, trial.name)
        except parcel.DamagedError as error:
            return str(error)
        return None

    def _end(self, trial: Trial) -> None:
        """A trial has its record: judge it, and say so."""
        document = self._document(trial)
        if self.options.cluster is None:
            costs.note(self.options.lab, self.options.clock, trial, document["wall_s"])
        self.listener("end", trial, document.get("virtual_s", 0.0))

    def _note(self, trial: Trial, reason: str) -> int:
        """Note an attempt that failed; returns how many there were."""
        reasons = self.failures.setdefault(trial.name, [])
        reasons.append(reason)
        line = json.dumps({"trial": trial.name, "attempt": len(reasons), "reason": reason})
        append_whole(self.folder / "failures.jsonl", line)
        return len(reasons)

    def _heard(self, what: str, name: str, seconds: float) -> None:
        """An event of a trial under way; one that comes after its end is of no use."""
        trial = self._running.get(name)
        if trial is not None:
            self.listener(what, trial, seconds)


def damaged(folder: Path, why: str) -> UsageError:
    """A record that cannot be used: it is not run over."""
    return UsageError(f"{why}; {folder}: remove it to run the trial again")
