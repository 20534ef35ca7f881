# SPDX-License-Identifier: GPL-2.0-only
"""A trial that runs, as its page shows it: the tables that its record will have, as they grow.

The lab's run directory is read; of what is written there one file is ours, by which the lab knows
that somebody looks, and its owner whether it is to wait (harness/hold.py).
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from analysis.records import Record, level_text
from harness.growing import Growing
from harness.host import temporary
from harness.watch.replay import pictures, rates
from plan import facts
from plan import plan as plans
from plan.facts import TrialFacts
from plan.plan import CAPTURES, Plan
from topology import cellq_log

SECOND_NS = 1_000_000_000
RUN_DIRECTORY = "cellbed-lab."
WHOLE: dict[str, Callable[[bytes], bytes]] = {
    ".csv": lambda data: data[: data.rfind(b"\n") + 1],
    ".cellq": cellq_log.whole,
}


def lab_here(folder: str) -> Path | None:
    """A lab's run directory on this machine, and this user's; None: there is none.

    A campaign's events may be of another machine, or have been written by anyone.
    """
    path = Path(folder)
    try:
        ours = not path.is_symlink() and path.stat().st_uid == os.getuid()
    except OSError:
        return None
    known = path.name.startswith(RUN_DIRECTORY) and (path / "events.jsonl").is_file()
    return path if ours and known else None


class Live:
    """Follows one trial in a lab's run directory."""

    def __init__(self, lab: Path, name: str) -> None:
        self.lab, self.name = lab, name
        self._raw = lab / "results" / name
        self._plan: Plan | None = None
        self._said = Growing(lab / "events.jsonl")
        self._begin()

    def _begin(self) -> None:
        """Of an attempt nothing is known yet."""
        self._t0_ns: int | None = None
        self._until_s = 0.0
        self._t: list[float] = []
        self._delivered: list[list[float]] = []

    def look(self) -> dict[str, Any] | None:
        """What the page needs of the trial up to now; None: nothing has come since.

        Raises:
            OSError, ValueError: the lab has gone, or is about to.
        """
        if not self._events() or self._t0_ns is None:
            return None
        with temporary.folder("watch") as folder:
            found = pictures(self._record(folder))
        found["rates"] = found["rates"] or rates(self._t, self._delivered)
        return {**found, "live": True, "until_s": self._until_s}

    def _record(self, folder: Path) -> Record:
        """A record of what there is, with tables in a folder that is empty."""
        raw, tables = folder / "raw", folder / "tables"
        raw.mkdir()
        tables.mkdir()
        # A sealed lab (harness/labs/sealed.py) writes its tables at its end.
        for path in self._raw.iterdir() if self._raw.exists() else ():
            if path.suffix in WHOLE and (data := WHOLE[path.suffix](path.read_bytes())):
                (raw / path.name).write_bytes(data)
        plan = self._plan = self._plan or self._submitted()
        for kind in CAPTURES.kinds.values():
            kind.Capture.so_far(plan, raw, self._t0_ns, tables)
        return Record(
            name=self.name,
            folder=tables,
            factors={name: level_text(level) for name, level in plan.factors.items()},
            seed=plan.seed,
            plan=plan,
            facts=facts.read(TrialFacts, {}),
            document={},
        )

    def _submitted(self) -> Plan:
        """The plan that the lab was given."""
        for path in sorted((self.lab / "inbox").glob("[0-9]*.json"), reverse=True):
            job = json.loads(path.read_text(encoding="utf-8"))
            if job.get("trial") == self.name:
                return plans.from_json(job["plan"])
        raise ValueError(f"{self.lab} has no job {self.name}")

    def _events(self) -> bool:
        """Take in what the lab has said since; is the trial further than it was?"""
        further = False
        for line in self._said.lines():
            if self.name.encode() in line:
                further = self._take(json.loads(line)) or further
        return further

    def _take(self, event: dict[str, Any]) -> bool:
        if event["event"] == "trial-begin":
            self._begin()
        if event["event"] != "progress":
            return False
        # A trial begins on a whole second of its lab's clock.
        self._t0_ns = round(event["virtual_s"] - event["second"]) * SECOND_NS
        self._until_s = event["second"]
        if "ip_bytes" in event:
            self._t.append(self._until_s)
            self._delivered.append(event["ip_bytes"])
        return True
