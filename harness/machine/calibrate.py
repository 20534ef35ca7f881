# SPDX-License-Identifier: GPL-2.0-only
"""`./cellbed doctor --calibrate`: what pairs and what rate this machine carries in real time.

Short trials of persistent sources, each larger than the one before, are judged by the checks
that every trial must pass: first a growing rate, then a growing number of pairs. Each row
ends at its first trial that is invalid, and all of it when the time is up.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from harness.design.experiment import validated
from harness.design.trials import PlannedTrial, planned
from harness.judge import fidelity
from harness.labs import Event, Lab, LabSpec
from harness.labs.session import session
from plan.atm import CELL_BITS
from plan.errors import LabError
from plan.facts import TrialFacts, read

LIMIT_S = 170.0
FEW_PAIRS = 5
RATES_BIT_PER_S = tuple(mbit * 1_000_000 for mbit in (2, 5, 10, 20, 45, 90, 140))
MORE_PAIRS = (10, 20, 50, 100)
# More pairs are tried at this rate, or the highest one carried if that is less.
PAIRS_RATE_BIT_PER_S = 10_000_000
ROUND_TRIP_US = 10_000


@dataclass(frozen=True, kw_only=True)
class Step:
    """One size that was tried; a measure is None when the trial did not get so far."""

    pairs: int
    rate_bit_per_s: int
    failed: list[str]
    stall_p99_ns: int | None = None
    late_share: float | None = None
    round_trip_error_ns: float | None = None
    busy_share: float | None = None

    @property
    def carried(self) -> bool:
        """Did the trial pass all checks?"""
        return not self.failed

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "carried": self.carried}


@dataclass(frozen=True, kw_only=True)
class Result:
    """All steps, and whether the time was enough to find an end."""

    lab: str
    steps: list[Step]
    complete: bool

    def best(self, pairs: Sequence[int]) -> Step | None:
        """The largest size carried, among the steps with these pairs."""
        carried = [s for s in self.steps if s.carried and s.pairs in pairs]
        return carried[-1] if carried else None

    def as_dict(self) -> dict[str, Any]:
        return {
            "lab": self.lab,
            "clock": "real",
            "complete": self.complete,
            "steps": [step.as_dict() for step in self.steps],
        }


class TimeUpError(Exception):
    """The calibration's time is up."""


def calibrate(lab: str, limit_s: float = LIMIT_S) -> Result:
    """Try growing sizes in a lab on the real clock for at most `limit_s` (and a boot's end)."""
    deadline = time.monotonic() + limit_s
    steps: list[Step] = []
    try:
        for step in grow(lab, [(FEW_PAIRS, rate) for rate in RATES_BIT_PER_S], deadline):
            steps.append(step)
        carried = [step.rate_bit_per_s for step in steps if step.carried]
        rate = min(PAIRS_RATE_BIT_PER_S, max(carried, default=0))
        for pairs in MORE_PAIRS if rate else ():
            steps += grow(lab, [(pairs, rate)], deadline)
            if not steps[-1].carried:
                break
    except TimeUpError:
        return Result(lab=lab, steps=steps, complete=False)
    return Result(lab=lab, steps=steps, complete=True)


def grow(lab: str, sizes: Sequence[tuple[int, int]], deadline: float) -> Iterator[Step]:
    """Trials of one number of pairs in one lab, until one is invalid.

    Raises:
        TimeUpError: the deadline came first.
        LabError: the lab failed.
    """
    trials = [sized(pairs, rate) for pairs, rate in sizes]
    if time.monotonic() > deadline:
        raise TimeUpError
    spec = LabSpec(pairs=sizes[0][0], clock="real")
    with session(lab, spec) as booted:
        booted.submit_network(trials[0].plan.topology)
        for trial in trials:
            step = try_one(booted, trial, deadline)
            yield step
            if not step.carried:
                return


def try_one(lab: Lab, trial: PlannedTrial, deadline: float) -> Step:
    """Run one trial in a lab."""
    lab.submit_trial(trial.name, trial.plan)
    try:
        for event in lab.events(deadline):
            if time.monotonic() > deadline:
                raise TimeoutError
            if event["event"] in ("trial-end", "trial-failed"):
                return step_of(lab, trial, event)
            if event["event"] == "failed":
                raise LabError(event["error"], lab.console())
    except TimeoutError:
        raise TimeUpError from None
    raise LabError("the lab ended by itself", lab.console())


def step_of(lab: Lab, trial: PlannedTrial, event: Event) -> Step:
    """What a trial says of its size."""
    topology = trial.plan.topology
    pairs, rate = topology.pairs, topology.rate_bit_per_s
    if event["event"] == "trial-failed":
        return Step(pairs=pairs, rate_bit_per_s=rate, failed=[event["error"]])
    raw = json.loads((lab.run_directory / "results" / trial.name / "lab.json").read_text())
    verdicts = {c["name"]: c for c in fidelity.checks_of(read(TrialFacts, raw), trial.plan)}
    trip = verdicts["idle round trip"]
    return Step(
        pairs=pairs,
        rate_bit_per_s=rate,
        failed=[name for name, verdict in verdicts.items() if not verdict["ok"]],
        stall_p99_ns=raw["realtime"]["stall_p99_ns"],
        late_share=verdicts["late departures"]["measured"],
        round_trip_error_ns=None
        if trip["measured"] is None
        else trip["measured"] - trip["expected"],
        busy_share=raw["realtime"]["busy_fraction"],
    )


def sized(pairs: int, rate_bit_per_s: int) -> PlannedTrial:
    """A trial of a few seconds: persistent SACK sources, EPD, a buffer of one round trip."""
    topology = {
        "pairs": pairs,
        "rate_bit_per_s": rate_bit_per_s,
        "delay_us": ROUND_TRIP_US // 2,
        "mss_bytes": 1024,
    }
    buffer_cells = max(60, rate_bit_per_s * ROUND_TRIP_US // 1_000_000 // CELL_BITS)
    base = {
        "topology": topology,
        "queue": {"policy": "epd", "buffer_cells": buffer_cells, "threshold": 0.8},
        "tcp": {"flavor": "sack", "window_bytes": 65_535, "ssthresh_bytes": 12_500},
        "workload": {"kind": "iperf", "duration_s": 4, "start_jitter_us": 0},
    }
    factors = {"pairs": [pairs], "rate": [rate_bit_per_s]}
    table = {"name": "calibrate", "title": "calibrate", "factors": factors, "base": base}
    return planned(validated(Path("calibrate"), table), Path("calibrate"))[0]


HEADINGS = ("pairs", "Mbit/s", "stall ms", "late %", "round trip +ms", "busy %", "verdict")


def row(step: Step) -> list[str]:
    """A step as a row below HEADINGS."""
    return [
        str(step.pairs),
        f"{step.rate_bit_per_s / 1e6:.0f}",
        shown(step.stall_p99_ns, 1e6),
        shown(step.late_share, 0.01),
        shown(step.round_trip_error_ns, 1e6),
        shown(step.busy_share, 0.01),
        "carried" if step.carried else ", ".join(step.failed),
    ]


def summary(result: Result) -> list[str]:
    """What it comes to, in sentences."""
    lines = []
    found = [result.best([FEW_PAIRS]), result.best(MORE_PAIRS)]
    sizes = [f"{s.pairs} pairs at {s.rate_bit_per_s / 1e6:.0f} Mbit/s" for s in found if s]
    least = f"not even {FEW_PAIRS} pairs at {RATES_BIT_PER_S[0] / 1e6:.0f} Mbit/s"
    if result.steps:
        lines.append(f"{result.lab}, real time: carries " + (" and ".join(sizes) or least))
    if not result.complete:
        lines.append("the time was up before an end was found")
    return lines


def shown(value: float | None, unit: float) -> str:
    """A measure in a unit, or a dash."""
    return "-" if value is None else f"{value / unit:.2f}"
