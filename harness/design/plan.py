# SPDX-License-Identifier: GPL-2.0-only
"""From an experiment to the plans of its trials. Pure, but for reading the flavor files.

A plan is plain JSON: all that the lab needs, in the units the lab uses. The identity of a
trial is the hash of its plan and of the code, image and kernel that run it, so that a
record is taken up again only when running it anew would be the same trial.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from harness.design.experiment import Experiment, Level, Record, Settings, first_fault, same
from harness.errors import UsageError
from harness.flavors import files as flavors
from topology.dumbbell import cells_of
from workload import iperf, wrk, www
from workload.errors import WorkloadError

FORMAT = "cellbed-plan/1"
WORKLOADS: dict[str, type[Any]] = {
    "www": www.Parameters,
    "iperf": iperf.Parameters,
    "wrk": wrk.Parameters,
}
PPM = 1_000_000
MOST_TRIALS = 100_000
# A file's name has at most 255, and a record has a longer one while it is being written.
MOST_NAME_BYTES = 200


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One trial to be run.

    Attributes:
        name: readable and unique: the levels, the seed, the first digits of the identity.
        plan: what the lab gets (format "cellbed-plan/1").
    """

    name: str
    plan: dict[str, Any]

    @property
    def factors(self) -> dict[str, Level]:
        """The levels of this trial's cell."""
        levels: dict[str, Level] = self.plan["factors"]
        return levels

    @property
    def network_key(self) -> str:
        """Trials with the same key can share a lab: what is built once is the same."""
        topology = self.plan["topology"]
        fixed = ("pairs", "access_rate_bit_per_s", "access_delay_ns")
        return json.dumps([topology[key] for key in fixed])


def trials(
    experiment: Experiment,
    path: Path,
    only: Sequence[str] = (),
    seeds: int | None = None,
    code: str = "",
) -> list[Trial]:
    """The trials of an experiment, seed by seed.

    Args:
        experiment: a validated experiment file; `path` is its name in errors.
        only: FACTOR=LEVEL[,LEVEL...] each; a cell must match all of them.
        seeds: how many seeds, from 1; None: as the file says.
        code: identity of code, image and kernel.

    Raises:
        UsageError: a level that is not there, a setting that is missing or out of range.
    """
    wanted = selection(experiment, only)
    cells = [c for c in experiment.cells() if all(matches(c[f], w) for f, w in wanted.items())]
    if not cells:
        chosen = " ".join(f"--only {option}" for option in only)
        raise UsageError(f"{path}: {chosen}: [[only]] leaves no cell with these levels together")
    count = seeds if seeds is not None else experiment.seeds
    if len(cells) * count > MOST_TRIALS:
        raise UsageError(
            f"{path}: {len(cells)} cells with {count} seeds each: at most {MOST_TRIALS} trials"
        )
    planned = [(cell, cell_plan(experiment, path, cell)) for cell in cells]
    return [
        trial(path, cell, plan, seed, code)
        for seed in range(1, count + 1)
        for cell, plan in planned
    ]


def matches(level: Level, wanted: Sequence[str]) -> bool:
    """Is a level among those wanted?"""
    return any(same(level, w) for w in wanted)


def selection(experiment: Experiment, only: Sequence[str]) -> dict[str, list[str]]:
    """Parse --only options against the experiment's factors and levels."""
    wanted: dict[str, list[str]] = {}
    for option in only:
        factor, equals, text = option.partition("=")
        if not equals or factor not in experiment.factors:
            raise UsageError(
                f"--only {option}: FACTOR=LEVEL[,LEVEL], FACTOR one of "
                + ", ".join(experiment.factors)
            )
        for level in text.split(","):
            if not any(same(level, known) for known in experiment.factors[factor]):
                raise UsageError(
                    f"--only {option}: {level}: no such level of {factor}; there are "
                    + ", ".join(map(str, experiment.factors[factor]))
                )
        wanted.setdefault(factor, []).extend(text.split(","))
    return wanted


def cell_plan(experiment: Experiment, path: Path, cell: Mapping[str, Level]) -> dict[str, Any]:
    """The plan of a cell's trials, each of which has a seed in the place of this one's 0."""
    try:
        settings = Settings.model_validate(experiment.settings(cell))
    except ValidationError as error:
        levels = ", ".join(f"{f}={v}" for f, v in cell.items())
        raise UsageError(f"{path}: with {levels}: {first_fault(error)}") from error
    return {
        "format": FORMAT,
        "experiment": experiment.name,
        "study": experiment.study,
        "factors": dict(cell),
        "seed": 0,
        **lab_units(settings, path),
    }


def trial(
    path: Path, cell: Mapping[str, Level], of_cell: Mapping[str, Any], seed: int, code: str
) -> Trial:
    """One cell with one seed as a trial."""
    plan = {**of_cell, "seed": seed}
    text = json.dumps([plan, code], sort_keys=True)
    digest = hashlib.sha256(text.encode()).hexdigest()[:10]
    words = [*(str(level) for level in cell.values()), f"s{seed}", digest]
    name = "-".join(words).replace("/", "_").replace(" ", "")
    if len(os.fsencode(name)) > MOST_NAME_BYTES:
        raise UsageError(f"{path}: {name}: the name of a trial, at most {MOST_NAME_BYTES} bytes")
    return Trial(name=name, plan=plan)


def lab_units(settings: Settings, path: Path) -> dict[str, Any]:
    """Settings in the lab's units: nanoseconds, cells, parts per million."""
    topology, queue, tcp = settings.topology, settings.queue, settings.tcp
    frame_cells = cells_of(topology.mss_bytes + 40)
    down = queue_units(queue.policy, queue.buffer_cells, settings, frame_cells, path)
    up = queue_units(
        queue.return_policy or queue.policy,
        queue.return_buffer_cells or queue.buffer_cells,
        settings,
        frame_cells,
        path,
    )
    if tcp.flavor.lower() not in flavors.names():
        raise UsageError(
            f"{path}: tcp.flavor = {tcp.flavor}: no such TCP flavor; there are "
            + ", ".join(flavors.names())
        )
    flavor = flavors.load(tcp.flavor.lower()).with_parameters(
        {} if tcp.parameters == "none" else tcp.parameters, f"{path}: tcp.parameters"
    )
    if tcp.sysctl != "none":
        flavor = flavors.with_sysctls(flavor, tcp.sysctl, f"{path}: tcp.sysctl")
    if tcp.initial_window_segments is not None:
        flavor = flavors.with_initial_window(flavor, tcp.initial_window_segments)
    return {
        "topology": {
            "pairs": topology.pairs,
            "rate_bit_per_s": topology.rate_bit_per_s,
            "delay_ns": topology.delay_us * 1000,
            "access_rate_bit_per_s": topology.access_rate_bit_per_s,
            "access_delay_ns": topology.access_delay_us * 1000,
            "mss_bytes": topology.mss_bytes,
        },
        "queue": {"down": down, "up": up},
        "tcp": {
            "flavor": flavor.as_dict(),
            "window_bytes": tcp.window_bytes,
            "ssthresh_segments": max(2, round(tcp.ssthresh_bytes / topology.mss_bytes)),
        },
        "workload": workload_units(settings.workload, path),
        "record": record_units(settings.record, topology.pairs, path),
    }


def queue_units(
    policy: str, buffer_cells: int, settings: Settings, frame_cells: int, path: Path
) -> dict[str, Any]:
    """One direction's queue as the loader takes it."""
    queue = settings.queue
    units: dict[str, Any] = {"policy": policy, "buffer_cells": buffer_cells}
    if policy in ("plain", "ppd"):
        return units
    if queue.threshold_minus_packets is not None:
        cells = queue.threshold_minus_packets * frame_cells
        if cells >= buffer_cells:
            raise UsageError(
                f"{path}: queue.threshold_minus_packets = {queue.threshold_minus_packets}: "
                f"{cells} cells, but the buffer has {buffer_cells}"
            )
        units["threshold_minus_cells"] = cells
    elif queue.threshold is not None:
        units["threshold_ppm"] = round(queue.threshold * PPM)
    else:
        raise UsageError(f"{path}: queue.threshold: required by policy {policy}")
    if policy in ("sd", "fba"):
        if queue.z is None:
            raise UsageError(f"{path}: queue.z: required by policy {policy}")
        units["z_ppm"] = round(queue.z * PPM)
    return units


def record_units(record: Record, pairs: int, path: Path) -> dict[str, Any]:
    """What is recorded, times in nanoseconds; a small network has fewer pairs to follow."""
    followed = [pair for pair in record.cwnd_pairs if pair <= pairs]
    if record.cwnd_sample_ms and not followed:
        raise UsageError(f"{path}: record.cwnd_pairs: none of them is from 1 to {pairs}")
    return {
        "frames": record.frames,
        "drops": record.drops,
        "queue_sample_ns": round(record.queue_sample_ms * 1e6),
        "cwnd_sample_ns": round(record.cwnd_sample_ms * 1e6),
        "pcap": sorted(set(record.pcap)),
        "cwnd_pairs": followed,
    }


def workload_units(workload: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """The workload's table, every default filled in."""
    kind = workload.get("kind")
    if not isinstance(kind, str) or kind not in WORKLOADS:
        raise UsageError(f"{path}: workload.kind = {kind}: one of {', '.join(WORKLOADS)}")
    parameters = {key: value for key, value in workload.items() if key != "kind"}
    known = [field.name for field in fields(WORKLOADS[kind])]
    for key in parameters:
        if key not in known:
            raise UsageError(f"{path}: workload.{key}: unknown key; there are {', '.join(known)}")
    try:
        return {"kind": kind, **asdict(WORKLOADS[kind](**parameters))}
    except (WorkloadError, TypeError) as error:
        raise UsageError(f"{path}: {error}") from error
