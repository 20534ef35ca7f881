# SPDX-License-Identifier: GPL-2.0-only
"""Runs the trials of an experiment, several labs side by side, and takes up where it left.

A campaign is a directory: campaign.json, trials/ with one record each, failures.jsonl with
the reason of every trial that failed or was invalid. Whatever ends it, the whole records
stay, and running it again does only what is missing.
"""

from __future__ import annotations

import json
import shutil
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness import record
from harness.clean import LAB_PREFIX, mark_owner
from harness.errors import LabError, UsageError
from harness.labs import LABS, Lab, LabSpec
from harness.plan import Trial

FORMAT = "cellbed-campaign/1"
ATTEMPTS = 2

Document = dict[str, Any]
Listener = Callable[[str, Trial, float], None]


@dataclass(frozen=True, kw_only=True)
class Options:
    """How a campaign is run: which lab, which clock, how many labs at once."""

    lab: str = "uml"
    clock: str = "virtual"
    jobs: int = 2


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
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._todo: deque[Trial] = deque()

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

    def run(self) -> dict[str, Document]:
        """Run what is missing; returns every finished trial of the plan."""
        self.prepare()
        finished = self.done()
        self._todo.extend(t for t in self.trials if t.name not in finished)
        workers = min(self.options.jobs, len(self._todo))
        if workers:
            with ThreadPoolExecutor(workers) as pool:
                futures = [pool.submit(self._work) for _ in range(workers)]
                try:
                    for future in futures:
                        future.result()
                except BaseException:
                    self._stop.set()
                    raise
        return self.done()

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

    def _take(self, network_key: str | None) -> Trial | None:
        """The next trial, of one kind of network if the lab is already built."""
        with self._lock:
            for trial in self._todo:
                if network_key is None or trial.network_key == network_key:
                    self._todo.remove(trial)
                    return trial
        return None

    def _work(self) -> None:
        """One worker: labs one after the other until no trial is left."""
        while not self._stop.is_set():
            first = self._take(None)
            if first is None:
                return
            with tempfile.TemporaryDirectory(prefix=LAB_PREFIX) as folder:
                mark_owner(Path(folder))
                Worker(self, Path(folder), first).run()

    def failed(self, trial: Trial, reason: str) -> None:
        """Note a failure; the trial gets a second chance and no third."""
        with self._lock:
            reasons = self.failures.setdefault(trial.name, [])
            reasons.append(reason)
            if len(reasons) < ATTEMPTS:
                self._todo.append(trial)
            line = json.dumps({"trial": trial.name, "attempt": len(reasons), "reason": reason})
            with (self.folder / "failures.jsonl").open("a", encoding="utf-8") as stream:
                stream.write(line + "\n")
        self.listener("failed", trial, 0.0)

    def give_back(self, trial: Trial) -> None:
        """A trial that was taken and never begun."""
        with self._lock:
            self._todo.appendleft(trial)

    def next_for(self, network_key: str) -> Trial | None:
        """The next trial that the same lab can run."""
        return None if self._stop.is_set() else self._take(network_key)

    @property
    def stopping(self) -> bool:
        """Has the campaign been interrupted?"""
        return self._stop.is_set()


class Worker:
    """One lab and the trials it runs, one given ahead so that the lab never waits."""

    def __init__(self, campaign: Campaign, folder: Path, first: Trial) -> None:
        self.campaign = campaign
        self.folder = folder
        self.first = first
        self.given: deque[Trial] = deque()
        self.begun = (0.0, 0.0)

    def run(self) -> None:
        """Boot, feed, collect; a lab that dies costs the trial under way."""
        options, topology = self.campaign.options, self.first.plan["topology"]
        spec = LabSpec(pairs=topology["pairs"], clock=options.clock)
        try:
            with LABS[options.lab](spec, self.folder) as lab:
                modules = ["cellbed_tcp"]
                lab.submit({"kind": "network", "topology": topology, "modules": modules})
                self._give(lab, self.first)
                for event in lab.events():
                    self._handle(lab, event)
                    if self.campaign.stopping:
                        return
        except LabError as error:
            self._lab_died(error)

    def _give(self, lab: Lab, trial: Trial | None) -> None:
        if trial is None:
            lab.submit({"kind": "end"})
            return
        self.given.append(trial)
        job = {"kind": "trial", "trial": trial.name, "plan": trial.plan, "exact": lab.exact}
        lab.submit(job)

    def _handle(self, lab: Lab, event: Document) -> None:
        kind, campaign = event["event"], self.campaign
        if kind == "trial-begin":
            self.begun = (time.monotonic(), lab.cpu_s())
            campaign.listener("begin", self.given[0], 0.0)
            self._give(lab, campaign.next_for(self.given[0].network_key))
        elif kind == "progress":
            campaign.listener("progress", self.given[0], event["second"])
        elif kind == "trial-end":
            self._finish(lab, self.given.popleft())
        elif kind == "trial-failed":
            campaign.failed(self.given.popleft(), event["error"])
        elif kind == "failed":
            raise LabError(event["error"], lab.console())

    def _finish(self, lab: Lab, trial: Trial) -> None:
        raw = self.folder / "results" / trial.name
        costs = {
            "wall_s": round(time.monotonic() - self.begun[0], 3),
            "cpu_s": round(lab.cpu_s() - self.begun[1], 3),
        }
        document = record.finish(trial, raw, self.campaign.records, costs)
        shutil.rmtree(raw)
        self.campaign.listener("end", trial, document["virtual_s"])
        bad = [check["name"] for check in document["checks"] if not check["ok"]]
        if bad:
            self.campaign.failed(trial, "invalid: " + ", ".join(bad))

    def _lab_died(self, error: LabError) -> None:
        """The trial under way failed; those not begun go back."""
        reason = f"{error}\n{error.console}".strip()
        if self.given:
            self.campaign.failed(self.given.popleft(), reason)
        while self.given:
            self.campaign.give_back(self.given.pop())
