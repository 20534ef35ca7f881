# SPDX-License-Identifier: GPL-2.0-only
"""An experiment: from a file, a text or a mapping to the records of its trials."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from harness import events
from harness.api.campaign import Campaign
from harness.api.progress import ProgressDisplay
from harness.api.verdict import raise_failures
from harness.campaign.campaign import CampaignRun
from harness.design import experiment as experiments
from harness.design.experiment import Level, Port
from harness.design.toml_file import parse
from harness.design.trials import OwnKernel, PlannedTrial, TrialKernel, planned
from harness.host import capacity
from harness.judge import studies
from harness.kernels import names, store
from harness.records import identity
from harness.runners.options import Cluster, Options
from plan.errors import MissingError, UsageError
from plan.plan import level_name

RESULTS = Path("results")
Levels = Mapping[str, Level | Sequence[Level]]
"""Of each factor named, the level or levels that are wanted."""


@dataclass(frozen=True)
class Experiment:
    """An experiment (docs/experiments.md); made by one of its from_ methods.

    Attributes:
        design: its validated file.
        origin: what its errors name.
        text: its TOML, which a campaign keeps.
    """

    design: experiments.Design = field(repr=False)
    origin: Path
    text: str = field(repr=False)

    @classmethod
    def from_file(cls, path: Path | str) -> Experiment:
        """The experiment in a TOML file.

        Raises:
            UsageError: one line with the file, the key and what is allowed.
        """
        path = Path(path)
        return cls(experiments.load(path), path, path.read_text(encoding="utf-8"))

    @classmethod
    def from_text(cls, text: str) -> Experiment:
        """The experiment that a text in TOML is; UsageError as from_file()."""
        origin = Path("experiment")
        file = parse(text.encode("utf-8", "surrogatepass"), str(origin))
        return cls(experiments.of_file(origin, file), origin, text)

    @classmethod
    def from_mapping(cls, table: Mapping[str, Any]) -> Experiment:
        """The experiment that nested dicts and lists are, of a TOML file's shape.

        Raises:
            UsageError: as from_file(), or a value that TOML does not have.
            MissingError: there is no tomli-w.
        """
        try:
            import tomli_w
        except ImportError as error:
            raise MissingError("tomli-w is needed; run ./cellbed setup --library") from error
        try:
            return cls.from_text(tomli_w.dumps(table))
        except (TypeError, RecursionError) as error:
            raise UsageError(f"experiment: {error}") from error

    @property
    def name(self) -> str:
        return self.design.name

    @property
    def title(self) -> str:
        return self.design.title

    @property
    def factors(self) -> dict[str, list[Level]]:
        """Each factor with its levels."""
        return {name: list(levels) for name, levels in self.design.factors.items()}

    @property
    def cells(self) -> list[dict[str, Level]]:
        """Every combination of levels that is wanted, the last factor changing fastest."""
        return list(self.design.cells())

    def trials(self, only: Levels | None = None, seeds: int | None = None) -> list[PlannedTrial]:
        """What would run: each with its `name`, `factors` and whole `plan`.

        Its name lacks what run() adds: the software of this machine.

        Args:
            only: a cell must have one of these levels; None: all cells.
            seeds: how many, from 1; None: as the experiment says.

        Raises:
            UsageError: a level that is not there, a setting that is missing or out of range.
        """
        return planned(self.design, self.origin, options(only or {}), seeds)

    def run(
        self,
        out: Path | str | None = None,
        *,
        only: Levels | None = None,
        seeds: int | None = None,
        jobs: int | None = None,
        lab: str = "uml",
        clock: str | None = None,
        pcap: Sequence[Port] = (),
        kernels: Sequence[str] = (),
        trust_kernels: bool = False,
        progress: bool = True,
    ) -> Campaign:
        """Run the trials that are not there yet; the whole campaign, as `./cellbed run`.

        Args:
            out: the campaign's directory [results/NAME].
            only, seeds: as trials().
            jobs: labs at a time [as processors and memory allow; on a real clock one].
            lab: uml, vm or native.
            clock: virtual or real [virtual; of the native lab real].
            pcap: ports where packets are captured.
            kernels: names (docs/kernels.md) of the levels of one more factor, `kernel`.
            trust_kernels: build the kernel trees that the experiment names (path:, git:), too.
            progress: say on standard error how far it is.

        Raises:
            UsageError: wrong input, or a directory that is another experiment's.
            MissingError: set-up has not made what it needs.
            LabError: a trial left no record, twice; a kernel does not build.
            InvalidTrialError: every trial ran, and one failed its checks; Campaign(out) has all.
        """
        running = self.prepare(
            out, options(only or {}), seeds=seeds, jobs=jobs, lab=lab, clock=clock, pcap=pcap,
            kernels=kernels, trust_kernels=trust_kernels,
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
        jobs: int | None = None,
        lab: str = "uml",
        clock: str | None = None,
        pcap: Sequence[Port] = (),
        kernels: Sequence[str] = (),
        trust_kernels: bool = False,
        cluster: Cluster | None = None,
    ) -> CampaignRun:
        """What run() runs; `only` as the command line has it, FACTOR=LEVEL[,LEVEL] each."""
        design = experiments.with_captures(self.design, pcap)
        design = experiments.with_kernels(design, self.origin, kernels)
        studies.find(design.study)
        clock = clock or ("real" if lab == "native" else "virtual")
        code = identity.code(lab) + lab + clock
        trusted = None if trust_kernels else kernels
        chosen = kernels_of(lab, cluster, self.origin, trusted)
        trials = planned(design, self.origin, only, seeds, code, chosen)
        jobs = labs_at_once(jobs, lab, clock)
        header = {
            "name": design.name,
            "title": design.title,
            "text": self.text,
            "factors": design.factors,
        }
        every = planned(design, self.origin, (), seeds, code, chosen)
        folder = RESULTS / design.name if out is None else Path(out)
        how = Options(lab=lab, clock=clock, jobs=jobs, cluster=cluster)
        return CampaignRun(folder, trials, header, how, every=every)


def kernels_of(
    lab: str, cluster: Cluster | None, origin: Path, trusted: Sequence[str] | None
) -> Callable[[str | None], TrialKernel]:
    """The kernels that lab.kernel names, each built when it is first asked for.

    Who is given an experiment's file does not expect it to run code. Of its own accord it has
    Debian's kernels only.

    trusted: the trees that may be built (their build files run here); None: all.
    """

    @cache
    def kernel(name: str | None) -> TrialKernel:
        if name is None:
            return OwnKernel()
        if lab != "uml" or cluster is not None:
            raise UsageError(f"lab.kernel = {name}: only in the uml lab of this machine")
        if names.runs_code(name) and trusted is not None and name not in trusted:
            raise UsageError(
                f"{origin}: lab.kernel = {name}: to build it runs that tree's files with your "
                "rights; where you trust the tree, add --trust-kernels"
            )
        return store.ready(name) or OwnKernel()

    return kernel


def execute(running: CampaignRun, progress: bool = True) -> dict[str, dict[str, Any]]:
    """Run what is missing; every finished trial's record by name."""
    display = ProgressDisplay(running.trials) if progress else nullcontext(events.ignore)
    with display as running.listener:
        return running.run()


def options(only: Levels) -> list[str]:
    """Levels as --only has them."""
    return [
        f"{factor}={','.join(map(level_name, listed(levels)))}" for factor, levels in only.items()
    ]


def listed(levels: Level | Sequence[Level]) -> Sequence[Level]:
    """One level as a list of one."""
    return [levels] if isinstance(levels, Level) else levels


def labs_at_once(jobs: int | None, lab: str, clock: str) -> int:
    """How many labs run at a time: as the machine carries, one where they would disturb others."""
    if lab == "native" and jobs not in (None, 1):
        raise UsageError(f"--jobs {jobs}: a machine has its TCP module once: one native lab")
    return jobs or (1 if clock == "real" else capacity.capacity().labs)
