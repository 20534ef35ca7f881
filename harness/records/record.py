# SPDX-License-Identifier: GPL-2.0-only
"""From what a lab left of a trial to the facts of its record (docs/records.md).

A record is made under a temporary name and renamed when it is whole. Nothing changes its
facts afterwards; judgement.py keeps what is computed from them in a file of its own.
"""

from __future__ import annotations

import csv
import json
import shutil
import stat
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from analysis.headers import OF_THE_RUN, RunHeader, TrialHeader
from harness.design.trials import PlannedTrial
from harness.host.version import version
from harness.records.seal import seal
from harness.records.whole import whole_folder
from plan import plan

Document = dict[str, Any]


def finish(
    trial: PlannedTrial,
    software: Mapping[str, str],
    raw: Path,
    trials: Path,
    costs: Mapping[str, float],
) -> None:
    """Turn a trial's raw folder into its record, not judged yet.

    Args:
        trial: what was asked for.
        software: what ran it (harness/records/identity.py).
        raw: the lab's results/TRIAL.
        trials: folder of the campaign's records.
        costs: wall_s and cpu_s of the trial.

    Raises:
        OSError, ValueError, KeyError: the lab left something else than a trial's results.
    """
    refuse_strange(raw)
    lab = json.loads((raw / "lab.json").read_text())
    if trial.plan.topology.path:
        from harness.records import moving  # and numpy with it

        lab["path"] = moving.both(trial.plan, raw, lab)
    facts, of_the_run = parted(lab)
    wall_s, cpu_s = costs["wall_s"], costs["cpu_s"]
    run = vars(
        RunHeader(ended=now(), wall_s=wall_s, cpu_s=cpu_s, lab=of_the_run, cellbed=version())
    )
    with whole_folder(trials, trial.name) as folder:
        write_flows(trial.plan, raw / "flows.csv", folder / "flows.csv")
        write_series(trial, lab["source"]["t0_ns"], raw, folder)
        for name, document in (("trial", asked(trial, software)), ("lab", facts), ("run", run)):
            (folder / f"{name}.json").write_text(json.dumps(document, indent=1) + "\n")
        seal(folder)


def refuse_strange(raw: Path) -> None:
    """A link that a lab left would bring a file of this machine into the record, and reading a
    pipe would never end."""
    for path in (raw, *raw.rglob("*")):
        mode = path.lstat().st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            raise ValueError(
                f"{path} is a link, a pipe or a device; a record may have only files and folders"
            )


def asked(trial: PlannedTrial, software: Mapping[str, str]) -> Document:
    """The content of trial.json: what was to run, and what ran it."""
    header = TrialHeader(
        trial=trial.name,
        factors=dict(trial.factors),
        seed=trial.plan.seed,
        software=dict(software),
        plan=plan.to_json(trial.plan),
    )
    return dict(vars(header))


def parted(lab: Mapping[str, Any]) -> tuple[Document, Document]:
    """A lab's document in two of its shape: of the trial, and of the run (OF_THE_RUN)."""
    facts: Document = {}
    run: Document = {}
    for key, value in lab.items():
        if key in OF_THE_RUN:
            run[key] = value
        elif isinstance(value, dict):
            facts[key], inner = parted(value)
            run |= {key: inner} if inner else {}
        else:
            facts[key] = value
    return facts, run


def now() -> str:
    """The moment, UTC to the microsecond, so that records can be put in their order."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def write_flows(of: plan.Plan, raw: Path, kept: Path) -> None:
    """Bring the flow table over: with each pair's flavor, where the pairs have flavors in turn, and
    with each pair's route, where the middle links have names."""
    layout, more = of.topology.layout(), dict[str, Callable[[int], str]]()
    if of.tcp.others:
        more["flavor"] = lambda pair: of.tcp.of_pair(pair).flavor.name
    if layout.named:
        more["route"] = layout.class_of
    if not more:
        shutil.copyfile(raw, kept)
        return
    with raw.open(newline="", encoding="ascii") as stream:
        rows = list(csv.DictReader(stream))
    named = [row | {key: value(int(row["pair"])) for key, value in more.items()} for row in rows]
    with kept.open("w", newline="", encoding="ascii") as stream:
        table = csv.DictWriter(stream, named[0])
        table.writeheader()
        table.writerows(named)


def write_series(trial: PlannedTrial, t0_ns: int, raw: Path, folder: Path) -> None:
    """Bring over what was recorded over time, in times from the trial's start at `t0_ns`."""
    workload = plan.WORKLOADS[plan.kind_of(trial.plan.workload)]
    for name in workload.Source.files:
        shutil.copyfile(raw / name, folder / name)
    for kind in plan.CAPTURES.kinds.values():
        kind.Capture.keep(trial.plan, raw, t0_ns, folder)
