# SPDX-License-Identifier: GPL-2.0-only
"""Runs the trials of an experiment, here or on other machines, and takes up where it left.

A campaign is a directory: campaign.json, trials/ with one record each, failures.jsonl with
the reason of every trial that failed or was invalid. Whatever ends it, the whole records
stay, and running it again does only what is missing.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness import costs, parcel
from harness.errors import UsageError
from harness.lab_pool import Outcome
from harness.plan import Trial

if TYPE_CHECKING:
    from harness.cluster import Crew

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
        scheduler: address of a Dask scheduler whose workers have the labs; None: this machine.
    """

    lab: str = "uml"
    clock: str = "virtual"
    jobs: int = 2
    scheduler: str | None = None


class Campaign:
    """One campaign directory and the trials it is to hold.

    Args:
        folder: made if it is not there.
        trials: all that the campaign wants.
        header: what campaign.json says beside its format.
        options: see Options.
        listener: called with ("begin" | "progress" | "end" | "failed", trial, seconds).
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
        self._running: dict[str, Trial] = {}

    @property
    def records(self) -> Path:
        """Folder of the finished trials."""
        return self.folder / "trials"

    def done(self) -> dict[str, Document]:
        """Finished trials of this plan: name -> trial.json."""
        found = {}
        for trial in self.trials:
            path = self.records / trial.name / "trial.json"
            if path.exists():
                found[trial.name] = json.loads(path.read_text())
        return found

    def recorded(self) -> list[Document]:
        """Every record of the folder, also of other plans and other code."""
        paths = sorted(self.records.glob("[!.]*/trial.json"))
        return [json.loads(path.read_text()) for path in paths]

    def run(self) -> dict[str, Document]:
        """Run what is missing; returns every finished trial of the plan."""
        from harness.cluster import crew  # slow to import, and most commands need none

        self.prepare()
        missing = self._missing()
        if missing:
            self._running = {trial.name: trial for trial in missing}
            options = self.options
            with crew(
                options.lab,
                options.clock,
                min(options.jobs, len(missing)),
                options.scheduler,
                self.records,
                self._heard,
            ) as workers:
                self._run(workers, missing)
        return self.done()

    def _run(self, workers: Crew, missing: Sequence[Trial]) -> None:
        """All trials, and those that fail once more."""
        for trial in missing:
            workers.submit(trial)
        for trial, outcome in workers.outcomes():
            del self._running[trial.name]
            before = len(self.failures.get(trial.name, ()))
            self._accept(trial, outcome)
            if before < len(self.failures.get(trial.name, ())) < ATTEMPTS:
                self._running[trial.name] = trial
                workers.submit(trial)

    def prepare(self) -> None:
        """Make the directory and its header; refuse one that is another experiment's."""
        path = self.folder / "campaign.json"
        header = {"format": FORMAT, **self.header}
        if path.exists():
            known = json.loads(path.read_text())
            if known.get("name") != header["name"]:
                name = known.get("name")
                raise UsageError(f"{path}: holds experiment {name}; choose another --out")
        self.records.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(".partial")
        partial.write_text(json.dumps(header, indent=1) + "\n")
        partial.rename(path)
        for left in self.records.glob(".*.partial"):
            shutil.rmtree(left)

    def _missing(self) -> list[Trial]:
        """Trials without a record, those that can share a lab one after the other."""
        finished = self.done()
        kinds = list(dict.fromkeys(trial.network_key for trial in self.trials))
        missing = [trial for trial in self.trials if trial.name not in finished]
        return sorted(missing, key=lambda trial: kinds.index(trial.network_key))

    def _accept(self, trial: Trial, outcome: Outcome) -> None:
        """Put the record into the folder; note why there is none, or why it is invalid."""
        if outcome.reason is not None:
            self._failed(trial, outcome.reason)
            return
        if outcome.record is not None:
            parcel.unpack(outcome.record, self.records, trial.name)
        document = json.loads((self.records / trial.name / "trial.json").read_text())
        self.listener("end", trial, document["virtual_s"])
        if self.options.scheduler is None:
            costs.note(self.options.lab, self.options.clock, trial, document["wall_s"])
        bad = [check["name"] for check in document["checks"] if not check["ok"]]
        if bad:
            self._failed(trial, "invalid: " + ", ".join(bad))

    def _failed(self, trial: Trial, reason: str) -> None:
        """Note a failure."""
        reasons = self.failures.setdefault(trial.name, [])
        reasons.append(reason)
        line = json.dumps({"trial": trial.name, "attempt": len(reasons), "reason": reason})
        with (self.folder / "failures.jsonl").open("a", encoding="utf-8") as stream:
            stream.write(line + "\n")
        self.listener("failed", trial, 0.0)

    def _heard(self, what: str, name: str, seconds: float) -> None:
        """An event of a trial under way; one that comes after its end is of no use."""
        trial = self._running.get(name)
        if trial is not None:
            self.listener(what, trial, seconds)
