# SPDX-License-Identifier: GPL-2.0-only
"""What a campaign's page shows: from its header, its events and its judgements, read as they grow.

Nothing is read unless somebody asks, and of the events only what came since.
"""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from analysis.errors import RecordError
from analysis.records import campaign_document, level_text
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

State = dict[str, Any]


class Follower:
    """Follows a campaign's directory, which need not be there yet."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock = threading.Lock()
        self._read = 0  # bytes of the events
        self._began: tuple[float, int] | None = None  # of this process: when, with how many done
        self._last = 0.0
        self._ended = ""
        self._trials: dict[str, State] = {}

    def state(self) -> State:
        """All of it, as the page gets it."""
        with self._lock:
            try:
                document = campaign_document(self.folder)
            except RecordError as error:
                return {"name": str(self.folder), "title": str(error), "factors": {}, "trials": []}
            self._events()
            names = [str(name) for name in document.get("trials") or ()]
            factors = {
                str(name): [level_text(level) for level in levels]
                for name, levels in (document.get("factors") or {}).items()
            }
            known = places(factors)
            trials = [self._trial(name, known) for name in names]
            return {
                "name": document.get("name"),
                "title": document.get("title"),
                "factors": factors,
                "trials": trials,
                "ended": self._ended,
                "left_s": self._left_s(trials),
            }

    def _trial(self, name: str, known: Mapping[str, Mapping[str, str]]) -> State:
        """A trial: its levels, where it is, and what it came to."""
        place, seed = parted(name)
        found = {"name": name, "levels": known.get(place, {}), "seed": seed, "status": "waiting"}
        found |= self._trials.get(name, {})
        if found["status"] not in ("valid", "invalid"):
            found |= self._judged(name)
        return found

    def _judged(self, name: str) -> State:
        """What its judgement says, kept once it is there; nothing before."""
        path = self.folder / "trials" / name / "judgement.json"
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
            with (self.folder / events.NAME).open("rb") as stream:
                stream.seek(self._read)
                for line in stream:
                    if not line.endswith(b"\n"):
                        break
                    self._read += len(line)
                    self._take(json.loads(line))
        except (OSError, ValueError):
            return

    def _take(self, data: Mapping[str, Any]) -> None:
        event = events.from_json(data)
        self._last = datetime.fromisoformat(data["time"]).timestamp()
        match event:
            case CampaignStarted():
                self._began, self._ended = (self._last, len(event.finished)), ""
            case CampaignEnded():
                self._ended = "ended"
            case CampaignInterrupted():
                self._ended = f"interrupted: {event.reason}"
        name = getattr(event, "trial", None)
        if name is not None:
            self._trials[name] = {**self._trials.get(name, {}), **change(event)}

    def _left_s(self, trials: Sequence[State]) -> float | None:
        """Seconds to the end, as those that were run since the beginning took; None: unknown."""
        left = sum(one["status"] in ("waiting", "running", "recorded") for one in trials)
        if self._began is None or self._ended or not left:
            return None
        began, had = self._began
        done = len(trials) - left - had
        return (self._last - began) / done * left if done > 0 else None


def change(event: Event) -> State:
    """What an event says of its trial."""
    match event:
        case TrialStarted():
            return {"status": "running", "virtual_s": 0}
        case TrialProgress():
            return {"status": "running", "virtual_s": event.virtual_s}
        case TrialEnded():
            return {"status": "recorded", "virtual_s": event.virtual_s}
        case TrialJudged():
            return {"status": "recorded"}  # its judgement says the rest
        case TrialFailed():
            return {"status": "waiting" if event.retried else "failed", "failed": [event.reason]}
    return {}


def places(factors: Mapping[str, Sequence[str]]) -> dict[str, dict[str, str]]:
    """Levels by the beginning of a trial's name that is made of them."""
    cells = itertools.product(*factors.values())
    return {
        "-".join(cell).replace("/", "_").replace(" ", ""): dict(zip(factors, cell, strict=True))
        for cell in cells
    }


def parted(name: str) -> tuple[str, str]:
    """What a trial's name says of its levels, and its seed."""
    place, seed, _ = ["", "", *name.rsplit("-", 2)][-3:]
    return place, seed.removeprefix("s")
