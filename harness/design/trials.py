# SPDX-License-Identifier: GPL-2.0-only
"""From an experiment to its trials, each with its plan. Pure, but for reading the flavor files.

The identity of a trial is the hash of its plan and of the code, image and kernel that run it,
so that a record is taken up again only when running it anew would be the same trial.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, Protocol

from harness.design import distinct
from harness.design.cell import NO_TEXT, Wanted, wanted_plan
from harness.design.distinct import Alike
from harness.design.experiment import KERNEL, TOP, Design
from harness.design.hints import kinds_with, of_missing, sentence
from harness.design.levels import same, value_at
from harness.design.readme import section_on
from harness.design.settings import is_key
from plan import plan
from plan.errors import NoFileError, UsageError
from plan.near import choices, form
from plan.plan import Level, Plan, level_name
from plan.schema import MissingKeyError, UnknownKeyError, WrongTypeError, shown
from plan.since import too_new

RECEIVER = "lab.receiver_kernel"
# At the end of what a kernel has not: ", which queue.kind = dualpi2 needs" (plan/since.py).
NEEDS = re.compile(r", which (?P<setting>[a-z_.]+( = [^;:]+?)?) needs")
NO_FACTOR = (
    "a key whose value is a list cannot be a factor; give the factor a name of its own, and set"
    " the key in the `set` of a [[rule]]"
)
MOST_TRIALS = 100_000
MOST_PATHS = 16  # whose JSON is kept; each may have some MB
MOST_TRIED = 100  # cells that are looked at for a mistake
# A file's name has at most 255, and a record has a longer one while it is being written.
MOST_NAME_BYTES = 200


@dataclass(frozen=True, kw_only=True)
class PlannedTrial:
    """One trial to be run.

    Attributes:
        name: readable and unique: the levels, the seed, the first digits of the identity.
        plan: what the lab gets.
        kernel: folder of a kernel that is not the lab's own.
        receiver: folder of the receivers' kernel, where they have one of their own.
        layer: what the lab has beside its image.
    """

    name: str
    plan: Plan
    kernel: Path | None = None
    receiver: Path | None = None
    layer: TrialLayer | None = None

    @property
    def factors(self) -> Mapping[str, Level]:
        """The levels of this trial's cell."""
        return self.plan.factors

    @property
    def seed(self) -> int:
        """Of this trial's random numbers."""
        return self.plan.seed

    @property
    def layer_folder(self) -> Path | None:
        """Where its layer is; None: it has none."""
        return self.layer.folder if self.layer else None

    @property
    def is_ready(self) -> bool:
        """Are the kernels and packages there that it needs beside those of the lab?"""
        needed = (self.kernel, self.receiver, self.layer_folder)
        return all(folder.exists() for folder in needed if folder)

    @property
    def network_key(self) -> str:
        """Trials with the same key can share a lab: what is built once is the same."""
        kernels = [str(one) for one in (self.kernel, self.receiver) if one]
        layers = [self.layer.name] if self.layer else []
        return json.dumps([*self.plan.topology.built, *kernels, *layers])


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


class TrialLayer(Protocol):
    """Packages that a lab has beside its image (harness/labs/layers.py)."""

    @property
    def name(self) -> str: ...

    @property
    def folder(self) -> Path: ...

    @property
    def identity(self) -> str: ...


Layers = Callable[[Plan], TrialLayer | None]
"""The layer that a plan needs, made if it is not there."""


def no_layers(_: Plan) -> TrialLayer | None:
    """For who wants plans and runs none."""
    return None


@dataclass(frozen=True)
class OwnKernel:
    """The lab's own.

    Attributes:
        version: of Linux, as 6.12; empty: it is not known before the lab runs.
    """

    version: str = ""
    folder: ClassVar[Path | None] = None
    identity: ClassVar[str] = ""

    def fitted(self, wanted: Plan) -> Plan:
        """The plan; UsageError where it needs a newer Linux."""
        if self.version and (newer := too_new(wanted, self.version)):
            raise UsageError(
                f"the lab's own kernel {self.version} has no {newer}; name a newer kernel with"
                " lab.kernel or --kernel"
            )
        return wanted


class Kernels(Protocol):
    """The kernel that lab.kernel names, or that of no name.

    Args:
        options: of Kconfig that it must have besides.
        linked: whether another lab's kernel is at the far end of its link.
    """

    def __call__(
        self, name: str | None, options: Sequence[str] = (), *, linked: bool = False
    ) -> TrialKernel: ...


@dataclass(frozen=True)
class Ends:
    """The kernels of a trial; receiver: where the receivers have one of their own."""

    sender: TrialKernel
    receiver: TrialKernel | None = None

    @property
    def identity(self) -> str:
        """Content of the kernels, for a trial's name."""
        return self.sender.identity + (f" {self.receiver.identity}" if self.receiver else "")


def own_kernel(
    name: str | None, options: Sequence[str] = (), *, linked: bool = False
) -> TrialKernel:
    """For who wants plans and runs none."""
    return OwnKernel()


def planned(
    experiment: Design,
    path: Path,
    only: Sequence[str] = (),
    seeds: int | None = None,
    code: str = "",
    kernels: Kernels = own_kernel,
    layers: Layers = no_layers,
) -> list[PlannedTrial]:
    """The trials of an experiment, seed by seed.

    Args:
        experiment: a validated experiment file; `path` is its name in errors.
        only: FACTOR=LEVEL[,LEVEL...] each; a cell must match all of them.
        seeds: how many seeds; None: as the file says, which also names the first.
        code: identity of code, image and the lab's own kernel.
        kernels: the kernel that lab.kernel names, or that of no name.
        layers: the packages that a plan needs beside the lab image.

    Raises:
        UsageError: a level that is not there, a setting that is missing or out of range.
    """
    plans = WantedPlans(experiment, path)
    every = list(experiment.cells())
    if found := distinct.alike(experiment, every, plans.meaning):
        raise experiment.sources.refusal(path, str(plans.explained(found, every)))
    wanted = selection(experiment, only)
    cells = [c for c in every if all(matches(c[f], w) for f, w in wanted.items())]
    if not cells:
        raise no_cell(path, only)
    count = seeds if seeds is not None else experiment.seeds
    if len(cells) * count > MOST_TRIALS:
        raise UsageError(
            f"{path}: {len(cells)} combinations with {count} seeds each: at most {MOST_TRIALS}"
            " trials"
        )
    wanted_kernels = plans.all_kernels(cells, kernels)  # all names, then any build
    of_cells = [
        (plans.fitted(cell, ends), ends) for cell, ends in zip(cells, wanted_kernels, strict=True)
    ]
    needed = [
        (of_cell, ends, plans.layer(cell, of_cell, ends, layers))
        for cell, (of_cell, ends) in zip(cells, of_cells, strict=True)
    ]
    return [
        trial(path, of_cell, ends, seed, code, layer)
        for seed in range(experiment.first_seed, experiment.first_seed + count)
        for of_cell, ends, layer in needed
    ]


class WantedPlans:
    """The plan that each cell of an experiment wants, made when it is first asked for."""

    def __init__(self, experiment: Design, path: Path) -> None:
        self.experiment = experiment
        self.path = path
        self.made: dict[tuple[Level, ...], Wanted] = {}
        self.meanings: dict[tuple[Level, ...], str] = {}

    def of(self, cell: Mapping[str, Level]) -> Wanted:
        """A cell's plan, and the names of its kernels; UsageError as planned()."""
        key = tuple(cell.values())
        if key not in self.made:
            self.made[key] = self._make(cell)
        return self.made[key]

    def _make(self, cell: Mapping[str, Level]) -> Wanted:
        try:
            return wanted_plan(self.experiment, cell)
        except (ValueError, UsageError) as error:
            sources, settings = self.experiment.sources, self.experiment.settings(cell)
            said = sentence(error, TOP, settings)
            if isinstance(error, WrongTypeError) and is_list_factor(error, cell):
                said = f"{error.place}{shown(error.value)}: {NO_FACTOR}"
            if isinstance(error, MissingKeyError):
                said += of_missing(error, settings)
            if isinstance(error, UnknownKeyError) and (told := self._of_kind(cell, error)):
                raise told from error
            why = self._why(cell, said)
            raise sources.refusal_of_setting(self.path, said, cell, why) from error

    def _of_kind(self, cell: Mapping[str, Level], error: UnknownKeyError) -> UsageError | None:
        """The error for a key that its table lost when a rule or a factor changed the kind."""
        found = self.experiment.sources.kind_over(error.place, error.key, cell)
        kinds = kinds_with(error.place, error.key)
        if found is None or not kinds:
            return None
        of_kind, of_key = found
        other = "" if of_kind.file is of_key.file else f" of {of_key.file.origin}"
        [kind] = value_at(self.experiment.settings(cell), f"{error.place}.kind")
        return of_kind.mistake(
            f"{error.place}.kind = {kind}: this kind has no key {error.key}, and line"
            f" {of_key.number}{other} sets {error.place}.{error.key} for this combination, too;"
            f" move it into the `set` of a [[rule]] for the kind {' or '.join(kinds)}. The keys of"
            f" {kind} are {', '.join(error.known)}"
        )

    def _why(self, cell: Mapping[str, Level], said: str) -> str:
        """Why a setting may be missing in a cell: no rule has its level, or which cell it is."""
        if found := self.experiment.sources.below_another(said):
            return found
        key = said.partition(":")[0]
        last = key.rpartition(".")[2]
        for factor, level in cell.items():
            if not is_key(factor) and not distinct.is_named(self.experiment, factor, level):
                like = form(factor) in (form(key), form(last))
                said_of = f"; no [[rule]] says what {factor} = {level_name(level)} means"
                return said_of + (f"; did you mean the factor {key}?" if like else "")
        for other in itertools.islice(self.experiment.cells(), MOST_TRIED):
            with suppress(ValueError, UsageError):
                wanted_plan(self.experiment, other)
                levels = ", ".join(f"{f} = {level_name(v)}" for f, v in cell.items())
                return f" (in the combination {levels})"
        return ""

    def kernels(self, cell: Mapping[str, Level], kernels: Kernels) -> Ends:
        """A cell's kernels, which need not be built; UsageError with the line of a name."""
        wanted = self.of(cell)
        options, receiver = wanted.plan.kernel_options, wanted.receiver_kernel
        if receiver is None:
            with self._of_kernel(cell, wanted.kernel):
                return Ends(kernels(wanted.kernel, options))
        # First the receivers', whose name is in the file: a refusal names a key that is there.
        with self._of_kernel(cell, receiver, RECEIVER):
            of_receivers = kernels(receiver, options, linked=True)
        with self._of_kernel(cell, wanted.kernel):
            return Ends(kernels(wanted.kernel, options, linked=True), of_receivers)

    def all_kernels(self, cells: Sequence[Mapping[str, Level]], kernels: Kernels) -> list[Ends]:
        """As kernels(), of several cells; a file that is missing is told before other refusals."""
        try:
            return [self.kernels(cell, kernels) for cell in cells]
        except UsageError:
            for cell in cells[:MOST_TRIED]:
                try:
                    self.kernels(cell, kernels)
                except UsageError as refused:
                    if isinstance(refused.__cause__, NoFileError):
                        raise
            raise

    def fitted(self, cell: Mapping[str, Level], ends: Ends) -> Plan:
        """A cell's plan as its kernel can run it; UsageError with the line of a kernel's name.

        With two kernels, the plan keeps all sysctls. Each lab leaves out those that its own kernel
        does not know, and records their names.
        """
        wanted = self.of(cell)
        with self._of_kernel(cell, wanted.kernel):
            found = ends.sender.fitted(wanted.plan)
        if ends.receiver is None:
            return found
        with self._of_kernel(cell, wanted.receiver_kernel, RECEIVER):
            ends.receiver.fitted(wanted.plan)
        return wanted.plan

    def layer(
        self, cell: Mapping[str, Level], plan: Plan, ends: Ends, layers: Layers
    ) -> TrialLayer | None:
        """What a cell's lab has beside its image; UsageError with the line of the workload."""
        try:
            found = layers(plan)
            if found and ends.receiver:
                raise UsageError(
                    f"workload.kind = {plan_json(plan.workload)['kind']}: not with {RECEIVER}"
                )
        except UsageError as error:
            said = str(error)
            raise self.experiment.sources.refusal_of_setting(self.path, said, cell, "") from error
        return found

    @contextmanager
    def _of_kernel(
        self, cell: Mapping[str, Level], name: str | None, key: str = "lab.kernel"
    ) -> Iterator[None]:
        try:
            yield
        except UsageError as error:
            sources = self.experiment.sources
            said = str(error)
            if isinstance(error, NoFileError):
                said = f"{error.said}{self._about(error.file)}{error.then}"
            if name is None or (KERNEL in cell and not sources.have_factor(KERNEL)):
                # No line of the file has this name; one has the setting that needs more.
                found = NEEDS.search(said)
                if found is None:
                    raise
                said = f"{found['setting']}: {said.replace(found[0], '', 1)}"
                raise sources.refusal_of_setting(self.path, said, cell, "") from error
            of_kernel = said.removeprefix("kernel ")
            if not name:
                said = f"{key} = {NO_TEXT}{of_kernel}"
            elif of_kernel != said:
                said = f"{key} = {of_kernel}"  # it begins with the name
            else:
                said = f"{key} = {name}: {said}"
            raise sources.refusal_of_setting(self.path, said, cell, "") from error

    def _about(self, file: Path) -> str:
        """Where a person can read of a file that is not there; "" where it is unknown."""
        if not file.name:
            return ""
        beside = (Path(of.origin).parent for of in self.experiment.sources.files)
        near = (file.parent, file.parent.parent, *beside)
        return section_on(file.name, near) or self.experiment.sources.comment_on(file.name)

    def meaning(self, cell: Mapping[str, Level]) -> str:
        """What the levels of a cell mean, whatever they are called."""
        key = tuple(cell.values())
        if key not in self.meanings:
            self.meanings[key] = self._meaning(cell)
        return self.meanings[key]

    def _meaning(self, cell: Mapping[str, Level]) -> str:
        try:
            wanted, *kernels = self.of(cell)
        except UsageError:
            return str(cell)  # its mistake is told when it is to run
        return json.dumps([as_json(replace(wanted, factors={})), *kernels], sort_keys=True)

    def explained(self, found: Alike, cells: Sequence[Mapping[str, Level]]) -> Alike:
        """The same two levels, and whether any trial uses the key that the factor sets."""
        factor = found.factor
        if found.where or not is_key(factor):
            return found
        bare = WantedPlans(distinct.without(self.experiment, factor), self.path)
        unused = all(
            bare.meaning({f: level for f, level in cell.items() if f != factor})
            == self.meaning(cell)
            for cell in cells
        )
        return replace(found, unused=unused)


def is_list_factor(error: WrongTypeError, cell: Mapping[str, Level]) -> bool:
    """Is it about a level of a factor that is named by a key whose value is a list?"""
    return error.words == "a list" and error.place in cell


def matches(level: Level, wanted: Sequence[str]) -> bool:
    """Is a level among those wanted?"""
    return any(same(level, w) for w in wanted)


def selection(experiment: Design, only: Sequence[str]) -> dict[str, list[str]]:
    """Parse --only options against the experiment's factors and levels."""
    wanted: dict[str, list[str]] = {}
    for option in only:
        factor, wanted_levels = parts(option)
        if factor not in experiment.factors:
            raise UsageError(
                f"--only {option}: the experiment has no factor {factor}; "
                + choices(factor, experiment.factors)
            )
        levels = experiment.factors[factor]
        for level in wanted_levels:
            if not any(same(level, known) for known in levels):
                said = f"{level} is no level of {factor}" if level else "a level is missing"
                raise UsageError(
                    f"--only {option}: {said}; {choices(level, map(level_name, levels))}"
                )
        wanted.setdefault(factor, []).extend(wanted_levels)
    return wanted


def parts(option: str) -> tuple[str, list[str]]:
    """The factor and the levels of an --only option; UsageError where it has no "="."""
    factor, equals, levels = option.partition("=")
    if not equals:
        raise UsageError(f"--only {option}: write FACTOR=LEVEL[,LEVEL]")
    return factor, levels.split(",")


def chosen(
    experiment: Design, path: Path, trials: Sequence[PlannedTrial], only: Sequence[str]
) -> list[PlannedTrial]:
    """Those of an experiment's trials that --only names; UsageError as planned()."""
    wanted = selection(experiment, only)
    found = [t for t in trials if all(matches(t.factors[f], w) for f, w in wanted.items())]
    if not found:
        raise no_cell(path, only)
    return found


def no_cell(path: Path, only: Sequence[str]) -> UsageError:
    options = " ".join(f"--only {option}" for option in only)
    return UsageError(f"{path}: {options}: [[only]] leaves no combination with these levels")


def as_json(wanted: Plan) -> dict[str, Any]:
    """A plan in plain JSON types; what a long path is there is made once for all its trials."""
    path = wanted.topology.path
    if path is None:
        return plan_json(wanted)
    found = plan_json(replace(wanted, topology=replace(wanted.topology, path=None)))
    return {**found, "topology": {**found["topology"], "path": path_json(path)}}


def plan_json(part: Any) -> dict[str, Any]:
    found: dict[str, Any] = plan.to_json(part)
    return found


@lru_cache(maxsize=MOST_PATHS)
def path_json(path: plan.Path) -> dict[str, Any]:
    """A path in plain JSON types, which nobody changes."""
    return plan_json(path)


def trial(
    path: Path, of_cell: Plan, ends: Ends, seed: int, code: str, layer: TrialLayer | None = None
) -> PlannedTrial:
    """One cell with one seed as a trial."""
    topology = of_cell.topology
    if topology.path:
        topology = replace(topology, path=topology.path.of_seed(seed))
    seeded = replace(of_cell, seed=seed, topology=topology)
    software = code + ends.identity + (layer.identity if layer else "")
    text = json.dumps([as_json(seeded), software], sort_keys=True)
    digest = hashlib.sha256(text.encode()).hexdigest()[:10]
    words = [*map(level_name, of_cell.factors.values()), f"s{seed}", digest]
    name = "-".join(words).replace("/", "_").replace(" ", "")
    if len(os.fsencode(name)) > MOST_NAME_BYTES:
        raise UsageError(f"{path}: {name}: the name of a trial, at most {MOST_NAME_BYTES} bytes")
    receiver = None if ends.receiver is None else ends.receiver.folder
    return PlannedTrial(
        name=name, plan=seeded, kernel=ends.sender.folder, receiver=receiver, layer=layer
    )
