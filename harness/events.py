# SPDX-License-Identifier: GPL-2.0-only
"""What happens in a campaign, as typed events: what the terminal shows, and events.jsonl keeps.

A line of events.jsonl is one event as a JSON object: its fields, `event` (its kind) and `time`
(when it was written, UTC). Every process that works on the campaign adds to the same file,
beginning with a campaign-started that says the format; docs/records.md has the table.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

FORMAT = "cellbed-events/1"
NAME = "events.jsonl"
# A trial says how far it is many times a second; a file is looked at less often.
PROGRESS_S = 1.0


@dataclass(frozen=True, kw_only=True)
class Event:
    """Base of all events."""


@dataclass(frozen=True, kw_only=True)
class CampaignStarted(Event):
    """A process begins to work on a campaign.

    Attributes:
        experiment: its name.
        lab, clock: which lab, and its clock.
        jobs: labs at a time; None: as many as the scheduler's workers have.
        scheduler: address of a Dask scheduler; None: on this machine.
        trials: names of all trials that are wanted.
        finished: names of those that have a record already.
    """

    experiment: str
    lab: str
    clock: str
    jobs: int | None
    scheduler: str | None
    trials: tuple[str, ...]
    finished: tuple[str, ...]
    format: str = FORMAT


@dataclass(frozen=True, kw_only=True)
class TrialStarted(Event):
    """A lab has begun a trial; once more when its worker was lost or it is tried again.

    Attributes:
        lab: run directory of its lab, on the machine that runs it; "": not told.
        waits: can that lab be held (harness/hold.py)?
        duration_s: how many virtual seconds it lasts; None: not told.
    """

    trial: str
    lab: str = ""
    waits: bool = False
    duration_s: float | None = None


@dataclass(frozen=True, kw_only=True)
class TrialProgress(Event):
    """So many virtual seconds of a trial have been simulated.

    Attributes:
        held_s: for how long it was held so far, by a clock on the wall.
    """

    trial: str
    virtual_s: float
    held_s: float = 0.0


@dataclass(frozen=True, kw_only=True)
class TrialEnded(Event):
    """A trial has its record; wall and CPU time are of the trial alone, without the boot."""

    trial: str
    virtual_s: float
    wall_s: float
    cpu_s: float


@dataclass(frozen=True, kw_only=True)
class TrialJudged(Event):
    """A record was judged: is it valid, and which of its checks failed."""

    trial: str
    valid: bool
    failed_checks: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class TrialFailed(Event):
    """An attempt that left no record: which one, why, and whether there will be another."""

    trial: str
    attempt: int
    reason: str
    retried: bool


@dataclass(frozen=True, kw_only=True)
class Message(Event):
    """A sentence about no trial."""

    text: str


@dataclass(frozen=True, kw_only=True)
class CampaignEnded(Event):
    """The process has done what it could: how many trials have a record, and how many none."""

    finished: int
    failed: int


@dataclass(frozen=True, kw_only=True)
class CampaignInterrupted(Event):
    """The process was told to stop, or met an error that ends the campaign."""

    reason: str


Listener = Callable[[Event], None]


def ignore(_: Event) -> None:
    """The listener that does nothing."""


def kind(event: type[Event]) -> str:
    """Its name in the file: TrialStarted is trial-started."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", event.__name__).lower()


KINDS = {kind(event): event for event in Event.__subclasses__()}


def to_json(event: Event) -> dict[str, Any]:
    """An event as an object of JSON."""
    return {"event": kind(type(event)), **asdict(event)}


def from_json(data: Mapping[str, Any]) -> Event:
    """The event that an object of JSON tells of; fields of a later version are left out.

    Raises:
        ValueError: no event of this version.
    """
    found = KINDS.get(str(data.get("event")))
    if found is None:
        raise ValueError(f"event {data.get('event')}: there are {', '.join(KINDS)}")
    known = {field.name for field in fields(found)}
    values = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in data.items()
        if name in known
    }
    try:
        return found(**values)
    except TypeError as error:
        raise ValueError(f"event {data['event']}: {error}") from error


def read(path: Path) -> Iterator[tuple[str, Event]]:
    """Time and event of each line of a file; what a killed process left of a line is no event."""
    with path.open(encoding="utf-8") as stream:
        for line in stream:
            if line.endswith("\n"):
                data = json.loads(line)
                yield data["time"], from_json(data)


class EventLog:
    """Adds events to a campaign's events.jsonl, from any thread.

    Args:
        append: puts a line behind those of the file.
    """

    def __init__(self, append: Callable[[str], None]) -> None:
        self._append = append
        self._written: dict[str, float] = {}
        self._lock = threading.Lock()

    def __call__(self, event: Event) -> None:
        with self._lock:
            if isinstance(event, TrialProgress) and not self._due(event.trial):
                return
            now = datetime.now(UTC).isoformat(timespec="milliseconds")
            self._append(json.dumps({"time": now, **to_json(event)}))

    def _due(self, trial: str) -> bool:
        """Is it time to write again how far a trial is?"""
        now = time.monotonic()
        due = now - self._written.get(trial, -PROGRESS_S) >= PROGRESS_S
        if due:
            self._written[trial] = now
        return due
