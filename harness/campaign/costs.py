# SPDX-License-Identifier: GPL-2.0-only
"""What trials have cost on this machine, to say how long others will take.

Wall seconds a virtual second, by what makes a trial dear, in a file beside set-up's products.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from analysis.files import regular
from harness.design.trials import PlannedTrial
from harness.host import paths
from plan import plan as plans
from plan.plan import Plan

# How far one more trial moves a known figure.
WEIGHT = 0.3


def file() -> Path:
    return paths.places()["cache"] / "costs.json"


def key(plan: Plan) -> str:
    """What trials of about the same cost have in common."""
    names = ("pairs", "rate_bit_per_s", "delay_ns", "mss_bytes")
    sizes = [f"{name}={getattr(plan.topology, name)}" for name in names]
    return " ".join([str(plans.kind_of(plan.workload)), *sizes])


def ratio(plan: Plan, wall_s: float) -> float:
    """Wall seconds for each virtual second of the trial's duration."""
    return wall_s / plan.workload.duration_s


def read() -> dict[str, float]:
    """All that is known; what cannot be read is not known."""
    try:
        known = json.loads(regular(file()).read_text())
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}


def note(lab: str, clock: str, trial: PlannedTrial, wall_s: float) -> None:
    """Remember what a trial cost; a cache that cannot be written remembers nothing."""
    name, new = f"{lab} {clock} {key(trial.plan)}", ratio(trial.plan, wall_s)
    known = read()
    old = known.get(name, new)
    known[name] = round(old + WEIGHT * (new - old), 5)
    partial = file().with_suffix(f".{os.getpid()}")
    try:
        partial.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")
        partial.rename(file())
    except OSError:
        with suppress(OSError):  # a read-only file system refuses it also where there is none
            partial.unlink(missing_ok=True)


def of_records(documents: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    """Mean ratio by key of finished trials; what is no such record says nothing."""
    found: dict[str, list[float]] = {}
    for document in documents:
        with suppress(KeyError, TypeError, ValueError, ArithmeticError):
            plan = plans.from_json(document["plan"])
            found.setdefault(key(plan), []).append(ratio(plan, document["wall_s"]))
    return {name: sum(values) / len(values) for name, values in found.items()}


def estimate(
    trials: Sequence[PlannedTrial], records: Iterable[Mapping[str, Any]], lab: str, clock: str
) -> tuple[float, int]:
    """Wall seconds that trials will take one after the other, and how many are not in it.

    By the records of the campaign, else by what trials have cost before; not in it are those
    of whose kind neither knows any.
    """
    here, before = of_records(records), read()
    total_s, unknown = 0.0, 0
    for trial in trials:
        name = key(trial.plan)
        found = here.get(name, before.get(f"{lab} {clock} {name}"))
        if found is None:
            unknown += 1
        else:
            total_s += found * trial.plan.workload.duration_s
    return total_s, unknown
