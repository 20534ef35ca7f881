# SPDX-License-Identifier: GPL-2.0-only
"""A lab that computes and says nothing hangs; one that the host lets wait does not."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.labs import Lab, LabSpec
from harness.labs.supervised import wait_for_exit
from plan.errors import LabError

HOUR_S = 3600.0
Moment = Callable[[float], float]


class PaperLab(Lab):
    """Runs on paper: at each look of its owner some wall time has passed."""

    wall_s = 0.0
    look_s = 10.0
    processor: Moment = staticmethod(lambda wall_s: 0.0)
    ends_s = float("inf")
    says_each_s = float("inf")

    def boot(self) -> None:
        """Nothing to be started."""

    def kill(self) -> None:
        """Nothing to be ended."""

    def cpu_s(self) -> float:
        return self.processor(self.wall_s)

    def poll(self) -> int | None:
        self.wall_s += self.look_s
        if self.wall_s % self.says_each_s == 0:
            with (self.run_directory / "events.jsonl").open("a") as stream:
                stream.write(json.dumps({"event": "progress"}) + "\n")
        return 0 if self.wall_s >= self.ends_s else None

    def told(self) -> list[str]:
        return []

    def kernel_identity(self) -> str:
        return ""


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PaperLab:
    lab = PaperLab(LabSpec(pairs=1), tmp_path)
    monkeypatch.setattr(time, "monotonic", lambda: lab.wall_s)
    monkeypatch.setattr(time, "sleep", lambda _: None)
    return lab


def watched(lab: PaperLab) -> int:
    """Wait for a lab's end; its number of events."""
    with lab:
        return len(list(lab.events()))


def of_an_hour(cpu_s: float) -> Moment:
    """Processor time of a lab that gets so much of it in an hour."""
    return lambda wall_s: wall_s / HOUR_S * cpu_s


def test_a_starved_lab_is_slow_and_nothing_else(lab: PaperLab) -> None:
    """A thousandth of a processor, on a host that has more to do."""
    lab.processor = of_an_hour(3.6)
    lab.ends_s = 100 * HOUR_S
    assert watched(lab) == 0


def test_a_lab_that_computes_for_ever_hangs(lab: PaperLab) -> None:
    lab.processor = of_an_hour(360.0)
    with pytest.raises(LabError, match="computed for 601 s and said nothing: hung"):
        watched(lab)


def test_each_sign_of_life_starts_the_count_anew(lab: PaperLab) -> None:
    lab.processor = of_an_hour(360.0)
    lab.says_each_s, lab.ends_s = HOUR_S, 20 * HOUR_S
    assert watched(lab) == 20


def test_a_lab_that_never_computes_hangs(lab: PaperLab) -> None:
    lab.processor = lambda wall_s: 10.0
    with pytest.raises(LabError, match="neither computed nor said anything for 1810 s"):
        watched(lab)


def test_an_owner_that_was_held_up_blames_no_lab(lab: PaperLab) -> None:
    """Both stood still, with the machine they are on."""
    lab.processor = lambda wall_s: 10.0
    lab.look_s, lab.ends_s = HOUR_S, 20 * HOUR_S
    assert watched(lab) == 0


def test_waiting_for_the_end_alone_is_watched_likewise(lab: PaperLab) -> None:
    lab.processor = of_an_hour(3.6)
    lab.ends_s = 10 * HOUR_S
    wait_for_exit(lab, 50.0)
    lab.ends_s = 100 * HOUR_S
    with pytest.raises(LabError, match="computed for 50 s"):
        wait_for_exit(lab, 50.0)


def test_an_owner_may_stop_waiting(lab: PaperLab) -> None:
    with pytest.raises(TimeoutError), lab:
        list(lab.events(until=300.0))
    assert lab.wall_s == 310.0
