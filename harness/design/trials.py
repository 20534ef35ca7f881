# SPDX-License-Identifier: GPL-2.0-only
"""From an experiment to the plans of its trials. Pure, but for reading the flavor files.

The identity of a trial is the hash of its plan and of the code, image and kernel that run it,
so that a record is taken up again only when running it anew would be the same trial.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from harness.design.experiment import Design, Settings, Tcp, Topology, same
from harness.flavors import files as flavors
from plan import plan, schema
from plan.errors import UsageError
from plan.plan import Level, Plan
from plan.registry import Registry, UnknownKindError

MOST_TRIALS = 100_000
# A file's name has at most 255, and a record has a longer one while it is being written.
MOST_NAME_BYTES = 200


@dataclass(frozen=True, kw_only=True)
class PlannedTrial:
    """One trial to be run.

    Attributes:
        name: readable and unique: the levels, the seed, the first digits of the identity.
        plan: what the lab gets.
        kernel: folder of a kernel that is not the lab's own.
    """

    name: str
    plan: Plan
    kernel: Path | None = None

    @property
    def factors(self) -> Mapping[str, Level]:
        """The levels of this trial's cell."""
        return self.plan.factors

    @property
    def network_key(self) -> str:
        """Trials with the same key can share a lab: what is built once is the same."""
        return json.dumps([*self.plan.topology.built, *([str(self.kernel)] if self.kernel else [])])


class TrialKernel(Protocol):
    """A kernel that lab.kernel names, ready to run.

    Attributes:
        folder: where it is; None: the lab's own.
        identity: its content; nothing for the lab's own, which is in the identity of the code.
    """

    @property
    def folder(self) -> Path | None: ...

    @property
    def identity(self) -> str: ...

    def fitted(self, wanted: Plan) -> Plan:
        """The plan as this kernel can run it; UsageError where it cannot."""


class OwnKernel:
    """The lab's own, which runs any plan."""

    folder = None
    identity = ""

    def fitted(self, wanted: Plan) -> Plan:
        return wanted


def own_kernel(name: str | None) -> TrialKernel:
    """For who wants plans and runs none."""
    return OwnKernel()


def planned(
    experiment: Design,
    path: Path,
    only: Sequence[str] = (),
    seeds: int | None = None,
    code: str = "",
    kernels: Callable[[str | None], TrialKernel] = own_kernel,
) -> list[PlannedTrial]:
    """The trials of an experiment, seed by seed.

    Args:
        experiment: a validated experiment file; `path` is its name in errors.
        only: FACTOR=LEVEL[,LEVEL...] each; a cell must match all of them.
        seeds: how many seeds; None: as the file says, which also names the first.
        code: identity of code, image and the lab's own kernel.
        kernels: the kernel that lab.kernel names, or that of no name.

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
    of_cells = [cell_plan(experiment, path, cell, kernels) for cell in cells]
    return [
        trial(path, of_cell, kernel.folder, seed, code + kernel.identity)
        for seed in range(experiment.first_seed, experiment.first_seed + count)
        for of_cell, kernel in of_cells
    ]


def matches(level: Level, wanted: Sequence[str]) -> bool:
    """Is a level among those wanted?"""
    return any(same(level, w) for w in wanted)


def selection(experiment: Design, only: Sequence[str]) -> dict[str, list[str]]:
    """Parse --only options against the experiment's factors and levels."""
    wanted: dict[str, list[str]] = {}
    for option in only:
        factor, equals, text = option.partition("=")
        if not equals or factor not in experiment.factors:
            raise UsageError(
                f"--only {option}: write FACTOR=LEVEL[,LEVEL], where FACTOR is one of "
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


def cell_plan(
    experiment: Design,
    path: Path,
    cell: Mapping[str, Level],
    kernels: Callable[[str | None], TrialKernel],
) -> tuple[Plan, TrialKernel]:
    """The plan of a cell's trials, each with a seed in the place of this one's 0; its kernel."""
    try:
        settings = schema.from_json(Settings, experiment.settings(cell), "", defaults=True)
    except ValueError as error:
        levels = ", ".join(f"{f}={v}" for f, v in cell.items())
        raise UsageError(f"{path}: with {levels}: {error}") from error
    topology = network(settings.topology, path)
    queue = queues(settings, path)
    workload = of_kind(plan.WORKLOADS, "Parameters", "workload", settings.workload, path)
    check_delay(topology.delay, workload, path)
    wanted = Plan(
        experiment=experiment.name,
        study=experiment.study,
        factors=dict(cell),
        seed=0,
        topology=topology,
        queue=queue,
        tcp=tcp(settings.tcp, topology, serving(workload), path),
        workload=workload,
        record=recording(settings.record, topology, queue, path),
    )
    kernel = kernels(settings.lab.kernel)
    return kernel.fitted(wanted), kernel


def network(wanted: Topology, path: Path) -> plan.Topology:
    """The dumbbell in the lab's units."""
    return plan.Topology(
        pairs=wanted.pairs,
        rate_bit_per_s=wanted.rate_bit_per_s,
        delay_ns=wanted.delay_us * 1000,
        access_rate_bit_per_s=wanted.access_rate_bit_per_s,
        access_delay_ns=wanted.access_delay_us * 1000,
        mss_bytes=wanted.mss_bytes,
        delay=wanted.delay,
        loss=None if wanted.loss == "none" else losses(wanted.loss, path),
    )


def losses(table: Mapping[str, Any], path: Path) -> plan.Loss:
    """What the path loses."""
    try:
        return schema.from_json(plan.Loss, table, "topology.loss", defaults=True)
    except ValueError as error:
        raise UsageError(f"{path}: {error}") from error


def check_delay(delay: str, workload: object, path: Path) -> None:
    """UsageError where there is no such delay, or the workload needs another one."""
    try:
        wanted = plan.DELAYS[delay].Delay
    except UnknownKindError as error:
        raise UsageError(f"{path}: topology.delay = {error}") from error
    needed = getattr(workload, "delay", None)
    if delay == needed or (needed is None and not wanted.of_workload):
        return
    others = [name for name, kind in plan.DELAYS.kinds.items() if not kind.Delay.of_workload]
    kind, allowed = plan.kind_of(workload), needed or " or ".join(others)
    raise UsageError(
        f"{path}: topology.delay = {delay}: with workload.kind = {kind} it must be {allowed}"
    )


def trial(path: Path, of_cell: Plan, kernel: Path | None, seed: int, code: str) -> PlannedTrial:
    """One cell with one seed as a trial."""
    seeded = replace(of_cell, seed=seed)
    text = json.dumps([plan.to_json(seeded), code], sort_keys=True)
    digest = hashlib.sha256(text.encode()).hexdigest()[:10]
    words = [*(str(level) for level in of_cell.factors.values()), f"s{seed}", digest]
    name = "-".join(words).replace("/", "_").replace(" ", "")
    if len(os.fsencode(name)) > MOST_NAME_BYTES:
        raise UsageError(f"{path}: {name}: the name of a trial, at most {MOST_NAME_BYTES} bytes")
    return PlannedTrial(name=name, plan=seeded, kernel=kernel)


def serving(workload: object) -> tuple[str, ...]:
    """The ends that answer requests: the servers, where the workload does not say otherwise."""
    return getattr(workload, "serving", ("server",))


def tcp(wanted: Tcp, topology: plan.Topology, ends: Sequence[str], path: Path) -> plan.Tcp:
    """The flavors, and the windows."""
    if not 1 <= len(wanted.flavor) <= topology.pairs:
        raise UsageError(
            f"{path}: tcp.flavor: a list of {len(wanted.flavor)}: 1 to {topology.pairs}, as pairs"
        )
    first, *others = (flavor(name, wanted, ends, path) for name in wanted.flavor)
    return plan.Tcp(
        flavor=first,
        window_bytes=wanted.window_bytes,
        ssthresh_segments=max(2, round(wanted.ssthresh_bytes / topology.mss_bytes)),
        others=tuple(others),
    )


def flavor(name: str, wanted: Tcp, ends: Sequence[str], path: Path) -> plan.Flavor:
    """A flavor with what the experiment changes in it; ends: those that serve."""
    if name.lower() not in flavors.names():
        raise UsageError(
            f"{path}: tcp.flavor = {name}: no such TCP flavor; there are "
            + ", ".join(flavors.names())
        )
    found = flavors.load(name.lower()).with_parameters(
        {} if wanted.parameters == "none" else wanted.parameters, f"{path}: tcp.parameters"
    )
    if wanted.sysctl != "none":
        found = flavors.with_sysctls(found, wanted.sysctl, f"{path}: tcp.sysctl")
    if wanted.initial_window_segments is not None:
        found = flavors.with_initial_window(found, wanted.initial_window_segments, ends)
    if wanted.server_quickack is not None:
        found = flavors.with_server_quickack(found, wanted.server_quickack, ends)
    return found.for_hosts()


def queues(settings: Settings, path: Path) -> plan.Queues:
    """The queues at both ports."""
    table = {"kind": plan.FIRST_QUEUE, **settings.queue}
    wanted = of_kind(plan.QUEUES, "Settings", "queue", table, path)
    try:
        down, up = wanted.ports(settings.topology.mss_bytes)
    except ValueError as error:
        raise UsageError(f"{path}: {error}") from error
    return plan.Queues(down=down, up=up)


def recording(
    table: Mapping[str, Any], topology: plan.Topology, queue: plan.Queues, path: Path
) -> plan.Recording:
    """What is recorded; only a kind of queue that can is asked to."""
    try:
        captures = plan.read_captures("Settings", table, "record", defaults=True)
        return plan.Recording(tuple(one.wanted(topology, queue.down) for one in captures))
    except ValueError as error:
        raise UsageError(f"{path}: {error}") from error


def of_kind(registry: Registry, part: str, place: str, table: Mapping[str, Any], path: Path) -> Any:
    """A table of an experiment by the file of its kind, every default filled in.

    Args:
        part: name of the class in that file.
        place: name of the table.
    """
    rest = dict(table)
    name = rest.pop("kind", None)
    try:
        kind = getattr(registry[name], part)
        return schema.from_json(kind, rest, place, defaults=True)
    except UnknownKindError as error:
        raise UsageError(f"{path}: {place}.kind = {error}") from error
    except ValueError as error:
        raise UsageError(f"{path}: {error}") from error
