# SPDX-License-Identifier: GPL-2.0-only
"""What a campaign's page shows: from its header, its events and its judgements, read as they grow.

Nothing is read unless somebody asks, and of the events only what came since.
"""

from __future__ import annotations

import json
import shlex
import threading
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from analysis import campaign_file
from analysis.campaign_file import CampaignFile, Entry
from analysis.errors import RecordError
from analysis.records import JUDGEMENT, level_text
from harness import events
from harness.events import (
    CampaignEnded,
    CampaignInterrupted,
    CampaignStarted,
    Event,
    TrialEnded,
    TrialFailed,
    TrialJudged,
    TrialProgress,
    TrialStarted,
)
from harness.growing import Growing
from harness.left import Left
from harness.watch.live import lab_here

State = dict[str, Any]


class Follower:
    """Follows a campaign's directory, which need not be there yet."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock = threading.Lock()
        self._said = Growing(folder / events.NAME)
        self._left = Left()
        self._ended = ""
        self._wanted: set[str] = set()  # trials that any process was to run
        self._trials: dict[str, State] = {}
        self._header: CampaignFile
        self._stamp: tuple[int, ...] = ()  # of the file that the header was read from

    def state(self) -> State:
        """All of it, as the page gets it."""
        with self._lock:
            try:
                header = self._read_header()
            except RecordError as error:
                return {
                    "name": str(self.folder),
                    "title": str(error),
                    "again": self.again,
                    "factors": {},
                    "trials": [],
                }
            self._events()
            document = header.document
            factors = {name: list(map(level_text, some)) for name, some in header.factors.items()}
            trials = [self._trial(entry) for entry in header.trials or () if entry.counts]
            if self._wanted:
                wanted = self._wanted
                trials = [x for x in trials if x["name"] in wanted or x["status"] != "waiting"]
            return {
                "name": document.get("name"),
                "title": document.get("title"),
                "again": self.again,
                "factors": {name: had(name, some, trials) for name, some in factors.items()},
                "trials": marked_older(trials, self.folder),
                "ended": self._ended,
                "left_s": self._left.left_s(),
            }

    @property
    def again(self) -> str:
        """The command that shows the campaign again."""
        return f"./cellbed watch {shlex.quote(str(self.folder))}"

    def _read_header(self) -> CampaignFile:
        """The header, which is another file when it is another one; RecordError without it."""
        stamp: tuple[int, ...] = ()
        with suppress(OSError):
            found = (self.folder / campaign_file.NAME).stat()
            stamp = (found.st_ino, found.st_size, found.st_mtime_ns)
        if not stamp or stamp != self._stamp:
            self._header, self._stamp = campaign_file.read_header(self.folder), stamp
        return self._header

    def lab(self, name: str) -> Path | None:
        """Where a trial runs on this machine; None: nowhere."""
        with self._lock:
            self._events()
            trial = self._trials.get(name, {})
        return lab_here(trial["lab"]) if trial.get("status") == "running" else None

    def _trial(self, entry: Entry) -> State:
        """A trial: its levels, where it is, and what it came to."""
        name, seed = entry.trial, "?" if entry.seed is None else str(entry.seed)
        levels = {factor: level_text(level) for factor, level in entry.factors.items()}
        found: State = {"name": name, "levels": levels, "seed": seed, "status": "waiting"}
        found |= self._trials.get(name, {})
        if found["status"] not in ("valid", "invalid"):
            found |= self._judged(name)
        if found["status"] == "running":
            found["live"] = lab_here(found.pop("lab", "")) is not None
        return found

    def _judged(self, name: str) -> State:
        """What its judgement says, kept once it is there; nothing before."""
        path = self.folder / "trials" / name / JUDGEMENT
        try:
            document = json.loads(path.read_text(encoding="utf-8"))
            told = {
                "status": "valid" if document["valid"] else "invalid",
                "failed": [check["name"] for check in document["checks"] if not check["ok"]],
                "metrics": {one: document["metrics"].get(one) for one in document["responses"]},
            }
        except (OSError, ValueError, KeyError, TypeError):
            return {}
        self._trials[name] = told
        return told

    def _events(self) -> None:
        """Take in the events that came since."""
        try:
            for line in self._said.lines():
                self._take(json.loads(line))
        except (OSError, ValueError):
            return

    def _take(self, data: Mapping[str, Any]) -> None:
        event = events.from_json(data)
        self._left.take(event, datetime.fromisoformat(data["time"]).timestamp())
        match event:
            case CampaignStarted():
                self._ended = ""
                self._wanted |= set(event.trials)
                self._leave("waiting")
            case CampaignEnded():
                self._ended = "ended"
                self._leave("unfinished")
            case CampaignInterrupted():
                why = "" if event.reason == KeyboardInterrupt.__name__ else f": {event.reason}"
                self._ended = f"interrupted{why}"
                self._leave("unfinished")
        name = getattr(event, "trial", None)
        if name is not None:
            self._trials[name] = {**self._trials.get(name, {}), **change(event)}

    def _leave(self, status: str) -> None:
        """One process at a time works on a campaign: what an earlier one ran does not run now."""
        for name, trial in self._trials.items():
            if trial.get("status") in ("running", "unfinished"):
                self._trials[name] = {"status": status}


def change(event: Event) -> State:
    """What an event says of its trial."""
    match event:
        case TrialStarted():
            return {
                "status": "running",
                "virtual_s": 0,
                "lab": event.lab,
                "waits": event.waits,
            }
        case TrialProgress():
            return {"status": "running", "virtual_s": event.virtual_s}
        case TrialEnded():
            return {"status": "recorded", "virtual_s": event.virtual_s}
        case TrialJudged():
            return {"status": "recorded"}  # its judgement says the rest
        case TrialFailed():
            return {"status": "waiting" if event.retried else "failed", "failed": [event.reason]}
    return {}


def marked_older(trials: Sequence[State], folder: Path) -> list[State]:
    """The trials; of valid records with the same levels and seed, all but the newest as older."""
    same: dict[str, list[State]] = defaultdict(list)
    for trial in trials:
        if trial["status"] == "valid":
            same[f"{trial['levels']} {trial['seed']}"].append(trial)
    # The page asks often, so a file is looked at only where there is a choice.
    several = [some for some in same.values() if len(some) > 1]
    older = {one["name"] for some in several for one in sorted(some, key=judged(folder))[:-1]}
    return [{**one, "older": True} if one["name"] in older else one for one in trials]


def judged(folder: Path) -> Callable[[State], int]:
    """When a trial's judgement was written [ns]; 0 where there is none."""

    def moment_ns(trial: State) -> int:
        with suppress(OSError):
            return (folder / "trials" / trial["name"] / JUDGEMENT).stat().st_mtime_ns
        return 0

    return moment_ns


def had(factor: str, levels: Sequence[str], trials: Sequence[State]) -> list[str]:
    """Those levels of a factor that some trial has, in their order."""
    return [level for level in levels if any(x["levels"].get(factor) == level for x in trials)]
