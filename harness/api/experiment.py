# SPDX-License-Identifier: GPL-2.0-only
"""An experiment: from a file, a text or a mapping to the records of its trials."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from harness import events
from harness.api.arguments import (
    LAST_FIRST_SEED,
    MOST_SEEDS,
    check_flag,
    check_number,
    check_run,
    mapping_of,
    path_of,
    plain,
    shown,
    text_of,
)
from harness.api.campaign import Campaign
from harness.api.kernels import kernels_of
from harness.api.planner import Planner
from harness.api.progress import ProgressDisplay
from harness.api.verdict import raise_failures, stopped
from harness.api.words import as_arguments
from harness.campaign.campaign import CampaignRun
from harness.design import experiment as experiments
from harness.design.experiment import Level, Port
from harness.design.shard import Shard
from harness.design.toml_file import parse
from harness.design.trials import PlannedTrial, planned, selection
from harness.host import capacity
from harness.judge import studies
from harness.kernels import debug as debugging
from harness.kernels import names
from harness.labs.layers import Layer, layer_of
from harness.records import identity
from harness.runners.options import Cluster, Options
from plan.errors import MissingError, UsageError
from plan.plan import Plan, level_name

RESULTS = Path("results")
Levels = Mapping[str, Level | Sequence[Level]]
"""Of each factor named, the level or levels that are wanted."""


@dataclass(frozen=True)
class Experiment:
    """An experiment (docs/experiments.md). Make it with from_file, from_text or from_mapping.

    Attributes:
        design: the experiment, checked.
        origin: the file that errors name.
        text: the experiment as TOML; the folder of results keeps it.
    """

    design: experiments.Design = field(repr=False)
    origin: Path
    text: str = field(repr=False)

    def __repr__(self) -> str:
        levels = [f"{name}: {len(found)} levels" for name, found in self.factors.items()]
        factors = ", ".join(levels) or "no factors"
        return f"Experiment({self.name!r}, {factors}, seeds: {self.design.seeds})"

    @classmethod
    def from_file(cls, path: Path | str) -> Experiment:
        """Read the experiment in a TOML file.

        Raises:
            UsageError: the file is wrong; one line names the file, the line, the key and the
                allowed values.
        """
        path = path_of(path, "path")
        return cls(experiments.load(path), path, path.read_text(encoding="utf-8"))

    @classmethod
    def from_text(cls, text: str) -> Experiment:
        """Read an experiment from TOML in a string.

        Raises:
            UsageError: as from_file(); the file is then called "experiment".
        """
        origin = Path("experiment")
        text_of(text, "text")
        file = parse(text.encode("utf-8", "surrogatepass"), str(origin))
        return cls(experiments.of_file(origin, file), origin, text)

    @classmethod
    def from_mapping(cls, table: Mapping[str, Any]) -> Experiment:
        """Read an experiment from nested dicts and lists with the keys of an experiment file.

        Raises:
            UsageError: as from_file(); or TOML cannot hold a value, such as None.
            MissingError: the package tomli-w is missing; `./cellbed setup --library` installs it.
        """
        try:
            import tomli_w
        except ImportError as error:
            raise MissingError(
                "the Python package tomli-w is missing; run ./cellbed setup --library"
            ) from error
        example = '{"name": "buffers", "title": ...}'
        if not mapping_of(table, "table", example):
            raise UsageError(f"table = {{}}: the dict is empty; write one such as {example}")
        try:
            return cls.from_text(tomli_w.dumps(plain(table)))
        except RecursionError as error:
            raise UsageError("experiment: a table contains itself") from error

    @property
    def name(self) -> str:
        """The name, which is also the default folder of results: results/NAME."""
        return self.design.name

    @property
    def title(self) -> str:
        """The title, which a report has as its heading."""
        return self.design.title

    @property
    def factors(self) -> dict[str, list[Level]]:
        """Each factor with its levels, in the order of the file."""
        return {name: list(levels) for name, levels in self.design.factors.items()}

    @property
    def cells(self) -> list[dict[str, Level]]:
        """Each combination of levels that the experiment runs; the last factor changes fastest."""
        return list(self.design.cells())

    def trials(
        self,
        only: Levels | None = None,
        seeds: int | None = None,
        first_seed: int | None = None,
    ) -> list[PlannedTrial]:
        """Return the trials that run() would run, each with its `name`, `factors` and `plan`.

        The plan has all settings of a trial. The name ends in a hash of the plan; run() adds the
        software of this machine to this hash.

        Args:
            only: levels of some factors; a cell must have one of the levels. None: all cells.
            seeds: the number of seeds of each cell, from first_seed on; None: as the experiment
                says.
            first_seed: the first seed; None: as the experiment says.

        Raises:
            UsageError: a level does not exist, or a setting is missing or out of range.
        """
        check_number(seeds, "seeds", MOST_SEEDS)
        check_number(first_seed, "first_seed", LAST_FIRST_SEED)
        with as_arguments():
            design = experiments.with_first_seed(self.design, first_seed)
            return planned(design, self.origin, options(only or {}), seeds)

    def run(
        self,
        out: Path | str | None = None,
        *,
        only: Levels | None = None,
        seeds: int | None = None,
        first_seed: int | None = None,
        jobs: int | None = None,
        lab: str = "uml",
        clock: str | None = None,
        pcap: Sequence[Port] = (),
        trace: Sequence[str] = (),
        kernels: Sequence[str] = (),
        module: str = "",
        debug: Sequence[str] = (),
        gdb: str = "",
        trust_kernels: bool = False,
        progress: bool = True,
    ) -> Campaign:
        """Run the trials that have no record yet, as `./cellbed run`, and return all records.

        Args:
            out: the folder of results; None: results/NAME.
            only, seeds, first_seed: as trials().
            jobs: the number of labs that run at once; None: as many as processors and memory
                allow, and one with the real clock.
            lab: "uml", "vm", "vm-arm64" or "native" (docs/labs.md).
            clock: "virtual" or "real"; None: "virtual", and "real" in the native lab.
            pcap: the ports that capture packets: "down" (to the clients), "up" or both.
            trace: events of the kernel for trace.csv, each as tcp:tcp_probe.
            kernels: names of kernels (docs/kernels.md); they become the levels of a factor
                `kernel`.
            module: a congestion control of your own (a folder, a C file, a file .ko, or a program
                of BPF such as mine.bpf.c); it becomes
                one more level of the factor `flavor`.
            debug: what to build into the kernels: "kasan", "lockdep" and "symbols".
            gdb: a breakpoint, such as the name of a function of the kernel. The lab's kernel waits
                until gdb has attached (guides/kernel.md). One trial must be left to run.
            trust_kernels: also build the kernel trees and modules that the experiment names
                (path:, git:, module:). The build runs files of these with your rights.
            progress: print the progress on standard error.

        Returns:
            the campaign with all its records, also those of earlier runs.

        Raises:
            UsageError: the input is wrong, or the folder has results of another experiment.
            MissingError: set-up has not made a product that the lab needs.
            LabError: a trial left no record in two attempts, or a kernel cannot be built.
            InvalidTrialError: all trials ran, and at least one failed its checks; Campaign(out)
                reads all records.
        """
        check_flag(progress, "progress")
        with as_arguments():
            running = self.prepare(
                out, options(only or {}), seeds=seeds, first_seed=first_seed, jobs=jobs, lab=lab,
                clock=clock, pcap=pcap, trace=trace, kernels=kernels, module=module, debug=debug,
                gdb=gdb, trust_kernels=trust_kernels,
            )  # fmt: skip
            documents = execute(running, progress)
            raise_failures(running, documents)
        return Campaign(running.folder)

    def prepare(
        self,
        out: Path | str | None = None,
        only: Sequence[str] = (),
        *,
        seeds: int | None = None,
        first_seed: int | None = None,
        jobs: int | None = None,
        lab: str = "uml",
        clock: str | None = None,
        pcap: Sequence[Port] = (),
        trace: Sequence[str] = (),
        kernels: Sequence[str] = (),
        module: str = "",
        debug: Sequence[str] = (),
        gdb: str = "",
        trust_kernels: bool = False,
        cluster: Cluster | None = None,
        shard: Shard | None = None,
        build: bool = True,
    ) -> CampaignRun:
        """Return the campaign that run() runs, without running it.

        The arguments are those of run(), except `only`: each text is FACTOR=LEVEL[,LEVEL], as on
        the command line. cluster: the Dask cluster that runs the trials; None: this machine.
        shard: the part of the trials to run, in a folder of its own below `out` or
        results/NAME-shards; None: all trials. build: False builds nothing. What is not built, as
        all that only trials outside of `only` need, has a folder that does not exist, and its
        trials have other names when it is built.

        Raises:
            UsageError: as run(); something is to be built for a folder that another process uses.
        """
        check_run(
            seeds=seeds, first_seed=first_seed, jobs=jobs, lab=lab, clock=clock, pcap=pcap,
            trace=trace, kernels=kernels, module=module, debug=debug, gdb=gdb,
            trust_kernels=trust_kernels,
        )  # fmt: skip
        refuse_elsewhere(lab, cluster, {"--debug": debug, "--gdb": gdb})
        folder = RESULTS / self.name if out is None else path_of(out, "out")
        design = experiments.with_first_seed(self.design, first_seed)
        design = experiments.with_captures(design, pcap)
        design = experiments.with_trace(design, trace)
        for name in filter(None, kernels):
            names.check(name)
        design = experiments.with_module(design, self.origin, module)
        design = experiments.with_kernels(design, self.origin, kernels)
        self._check_study(design)
        clock = clock or ("real" if lab == "native" else "virtual")
        code = identity.code(lab) + lab + clock
        trusted = (
            None
            if trust_kernels
            else [*kernels, *experiments.beside(module, kernels or [names.SET_UP])]
        )
        selection(design, only)  # what is wrong with it, before any kernel is built
        planner = Planner(
            design=design, path=self.origin, only=only, seeds=seeds, code=code, shard=shard,
            kernels=kernels_of(lab, cluster, trusted, debugging.options(debug)),
            layers_of=partial(layers_of, lab, cluster),
        )  # fmt: skip
        trials, every = planner.unbuilt()
        linked = any(trial.receiver for trial in trials)
        if linked:
            refuse_linked(clock, gdb)
        jobs = labs_at_once(jobs, lab, clock, linked=linked)
        header = {
            "name": design.name,
            "title": design.title,
            "text": self.text,
            "factors": design.factors,
        }
        if shard is not None:
            above = RESULTS / f"{design.name}-shards" if out is None else folder
            folder = above / shard.folder
        how = Options(lab=lab, clock=clock, jobs=1 if gdb else jobs, cluster=cluster, gdb=gdb)
        campaign = CampaignRun(folder, trials, header, how, every=every)
        if build and not all(trial.is_ready for trial in (every if shard else trials)):
            with campaign.held():  # a second command in this folder shall not build, too
                campaign.trials, campaign.every = planner.built()
        if gdb:
            refuse_many(campaign)
        return campaign

    def _check_study(self, design: experiments.Design) -> None:
        """UsageError, with the line of the file, where there is no such study."""
        try:
            studies.find(design.study)
        except UsageError as error:
            raise design.sources.refusal(self.origin, str(error)) from error


def refuse_elsewhere(lab: str, cluster: Cluster | None, given: Mapping[str, object]) -> None:
    """UsageError for options that need the uml lab of this machine, where it is another."""
    asked = [name for name, value in given.items() if value]
    if asked and (lab != "uml" or cluster is not None):
        raise UsageError(
            f"{asked[0]} works only in the uml lab of this machine; leave out --lab and --scheduler"
        )


def layers_of(lab: str, cluster: Cluster | None, plan: Plan, *, build: bool) -> Layer | None:
    """What a trial's lab has beside its image; UsageError where no lab here has it."""
    layer = layer_of(lab, plan, build=build)
    if layer is not None and cluster is not None:
        raise UsageError(
            f"workload.kind = {layer.name}: only on this machine; leave out --scheduler"
        )
    return layer


def refuse_linked(clock: str, gdb: str) -> None:
    """UsageError for options that no trial with lab.receiver_kernel can have."""
    if clock != "virtual":
        raise UsageError(f"lab.receiver_kernel: not with --clock {clock}; leave out --clock")
    if gdb:
        raise UsageError(
            "lab.receiver_kernel: not with --gdb, which stops one kernel, and such a trial has two;"
            " leave out --gdb"
        )


def refuse_many(campaign: CampaignRun) -> None:
    """UsageError where not one trial is left to run, of which gdb is to see the kernel."""
    done = campaign.finished()
    left = sum(trial.name not in done for trial in campaign.trials)
    if left != 1:
        raise UsageError(
            f"--gdb needs one trial that has no record yet, and there are {left}; choose one with"
            " --only and --seeds 1, and name a new folder with --out"
        )


def execute(running: CampaignRun, progress: bool = True) -> dict[str, dict[str, Any]]:
    """Run the trials that are missing; return the record of each finished trial by its name.

    Raises:
        KeyboardInterrupt: a person or a signal ended it; its note says what is there.
    """
    display = ProgressDisplay(running.trials) if progress else nullcontext(events.ignore)
    try:
        with display as running.listener:
            return running.run()
    except KeyboardInterrupt as error:
        error.add_note(stopped(running))
        raise


def options(only: Levels) -> list[str]:
    """Levels as the option --only has them."""
    example = '{"queue.policy": "epd"}'
    return [
        f"{factor}={','.join(map(level_name, listed(levels)))}"
        for factor, levels in mapping_of(only, "only", example).items()
    ]


def listed(levels: Level | Sequence[Level]) -> Sequence[Level]:
    """One level as a list of one; UsageError for what is neither a level nor a list."""
    if isinstance(levels, Level):
        return [levels]
    if isinstance(levels, Sequence):
        return levels
    raise UsageError(f"only: {shown(levels)}: must be a level or a list of levels")


def labs_at_once(jobs: int | None, lab: str, clock: str, *, linked: bool = False) -> int:
    """The number of trials that run at once: as the machine allows, one with the real clock.

    linked: whether a trial has two labs (lab.receiver_kernel).
    """
    if lab == "native" and jobs not in (None, 1):
        raise UsageError(f"--jobs {jobs}: a machine can have only one native lab; leave out --jobs")
    if jobs or clock == "real":
        return jobs or 1
    return max(1, capacity.capacity().labs // (2 if linked else 1))
