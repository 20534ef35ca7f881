# SPDX-License-Identifier: GPL-2.0-only
"""A lab of paper: it boots nothing, and does with a trial what a script says."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

from harness.design.trials import PlannedTrial
from harness.labs.base import Event, Lab
from harness.records import record
from plan.errors import LabError


class PaperLab(Lab):
    """Does its jobs at once. `script` says what becomes of a trial: a word a try."""

    script: dict[str, list[str]] = {}
    tried: list[str] = []
    booted: list[Path] = []
    trials_with_a_next = 0  # so many end only when the next one has been given

    def boot(self) -> None:
        self.booted.append(self.run_directory)

    def poll(self) -> int | None:
        return 0

    def kill(self) -> None:
        pass

    def cpu_s(self) -> float:
        return 1.0

    def events(self) -> Iterator[Event]:
        number = 0
        while True:
            number += 1
            job = json.loads(self.given(number).read_text())
            if job["kind"] == "end":
                return
            if job["kind"] == "trial":
                yield from self.trial(job["trial"], number)

    def given(self, number: int) -> Path:
        """The file of a job, when it is there."""
        path = self.run_directory / "inbox" / f"{number:04d}.json"
        end = time.monotonic() + 60
        while not path.exists():
            assert time.monotonic() < end, f"job {number} does not come"
            time.sleep(0.001)
        return path

    def trial(self, name: str, number: int) -> Iterator[Event]:
        self.tried.append(name)
        yield {"event": "trial-begin", "trial": name}
        if len(self.tried) <= self.trials_with_a_next:
            self.given(number + 1)
        steps = self.script.get(name, [])
        fate = steps.pop(0) if steps else "end"
        if fate == "die":
            raise LabError("the lab ended with status 1", "Kernel panic")
        if fate == "fail":
            yield {"event": "trial-failed", "trial": name, "error": "RuntimeError: nginx"}
        else:
            (self.run_directory / "results" / name).mkdir()
            yield {"event": "trial-end", "trial": name}


def finish(
    trial: PlannedTrial, software: dict[str, str], raw: Path, trials: Path, costs: dict[str, float]
) -> None:
    """A record of what paper labs leave: two files of some pages."""
    lab = {"virtual_s": 1.0, "source": {"t0_ns": 0}}
    (raw / "lab.json").write_text(json.dumps(lab))
    (raw / "requests.csv").touch()
    (raw / "flows.csv").write_text("pair,received_bytes\n" + "1,\n" * 3000)
    FINISH(trial, software, raw, trials, costs)


FINISH = record.finish
