# SPDX-License-Identifier: GPL-2.0-only
"""The table of digests: the same twenty-two trials of all studies, on each machine.

studies/digests.toml names the trials:

    [[trial]]
    experiment = "web_2003/web-small.toml"      in studies/
    seed = 1
    levels = { queue = "ARED" }                 of every factor, as text

studies/digests.csv has a line for each machine and trial: what the trial left there. A digest is a
hash of all facts and tables of a record, without the versions of the lab's packages
(analysis/kept_trials.py); two machines agree on a trial when they have the same digest of the same
plan.
"""

from __future__ import annotations

import csv
import io
import os
import platform
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from analysis import kept_trials
from analysis.errors import AnalysisError
from analysis.records import level_text
from analysis.report.standing import counted
from analysis.table import read_csv
from harness.api.experiment import Experiment, execute
from harness.design.trials import PlannedTrial
from plan import plan as plans
from plan.errors import UsageError

TRIALS, KEPT = "digests.toml", "digests.csv"
COLUMNS = ("machine", "trial", "plan", "digest")
CPUINFO = Path("/proc/cpuinfo")
ARM_NUMBERS = ("CPU implementer", "CPU part")


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """A trial of the table; experiment: below studies/."""

    experiment: str
    seed: int
    levels: Mapping[str, str] = field(hash=False)

    @property
    def name(self) -> str:
        """Experiment, levels and seed in words."""
        levels = " ".join(self.levels.values())
        return f"{Path(self.experiment).stem} {levels} seed {self.seed}"


@dataclass(frozen=True, kw_only=True)
class Line:
    """What a trial left on a machine; the digest is empty where it left no record."""

    machine: str
    trial: str
    plan: str
    digest: str


def wanted(folder: Path) -> list[Wanted]:
    """The trials in `folder`/digests.toml; raises UsageError on a bad file."""
    path = folder / TRIALS
    try:
        entries = tomllib.loads(path.read_text(encoding="utf-8")).get("trial", [])
        return [Wanted(**entry) for entry in entries]
    except (OSError, ValueError, TypeError) as error:
        raise UsageError(f"the trials in {path} cannot be read: {error}") from None


def kept(folder: Path) -> list[Line]:
    """The lines in `folder`/digests.csv; none where there is no file."""
    path = folder / KEPT
    if not path.exists():
        return []
    table = read_csv(path)
    table.require(*COLUMNS)
    return [Line(**{name: row[name] for name in COLUMNS}) for row in table.rows]


def keep(folder: Path, lines: Sequence[Line]) -> str:
    """Put a machine's lines into the file, in place of what it has of the same machine.

    A trial that left no record has no line. Returns what changed, as a sentence: another machine
    may have the same name, and its lines are gone then.
    """
    mine = {line.machine for line in lines}
    left = [line for line in lines if line.digest]
    before = kept(folder)
    others = [line for line in before if line.machine not in mine]
    whole = [*others, *left]
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows([getattr(line, name) for name in COLUMNS] for line in whole)
    (folder / KEPT).write_text(text.getvalue(), encoding="utf-8")
    said = f"{folder / KEPT} now has {counted(len(left), 'line')} of this machine"
    gone = len(before) - len(others)
    return f"{said}, in place of {counted(gone, 'line')} of the same name." if gone else f"{said}."


def run(folder: Path, trials: Sequence[Wanted], out: Path, jobs: int | None) -> Iterator[Line]:
    """Run the trials, an experiment after the other, into `out`.

    Raises UsageError for a trial that its experiment does not have.
    """
    here = machine()
    for experiment in dict.fromkeys(trial.experiment for trial in trials):
        some = [trial for trial in trials if trial.experiment == experiment]
        running = Experiment.from_file(folder / experiment).prepare(
            out / Path(experiment).stem, seeds=max(trial.seed for trial in some), jobs=jobs
        )
        planned = {_key(trial): trial for trial in running.trials}
        found = [planned.get((frozenset(t.levels.items()), t.seed)) for t in some]
        for trial, there in zip(some, found, strict=True):
            if there is None:
                raise UsageError(
                    f"{folder / TRIALS} names '{trial.name}', but {experiment} has no such trial"
                )
        running.trials = running.every = [there for there in found if there is not None]
        execute(running)
        for trial, there in zip(some, running.trials, strict=True):
            yield Line(
                machine=here,
                trial=trial.name,
                plan=kept_trials.plan_hash(plans.to_json(there.plan)),
                digest=_digest(running.records / there.name),
            )


def _digest(record: Path) -> str:
    try:
        return kept_trials.digest(record)
    except AnalysisError:
        return ""


def _key(trial: PlannedTrial) -> kept_trials.Key:
    levels = {name: level_text(level) for name, level in trial.factors.items()}
    return frozenset(levels.items()), trial.plan.seed


def agreement(line: Line, others: Sequence[Line]) -> str:
    """What kept lines say of a new one, of other machines and of this one before."""
    if not line.digest:
        return "it left no record"
    same = [other for other in others if other.trial == line.trial and other.digest]
    known = [other for other in same if other.plan == line.plan]
    if not known:
        return "a trial with other settings is kept" if same else "nothing is kept"
    unlike = [other.machine for other in known if other.digest != line.digest]
    if unlike:
        return f"differs from {'; '.join(unlike)}"
    return f"agrees with {len(known)} kept"


def machine() -> str:
    """This machine in words: its distribution, processor and model, and whose the labs are."""
    try:
        system = platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        system = platform.platform()
    who = "root" if os.geteuid() == 0 else "user"
    return f"{system}, {platform.machine()}, {processor(CPUINFO)}, {who}"


def processor(cpuinfo: Path) -> str:
    """The name of the processor's model, without spaces that only fill the line.

    ARM64 has no such name. Its numbers of implementer and part stand for it.
    """
    try:
        text = cpuinfo.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return "unknown processor"
    fields = dict(re.findall(r"^([^\n:\t]+?)\s*:[ \t]*(\S.*?)\s*$", text, re.MULTILINE))
    if name := fields.get("model name"):
        return " ".join(name.split())
    numbers = [f"{field} {fields[field]}" for field in ARM_NUMBERS if field in fields]
    return " ".join(numbers) or "unknown processor"
