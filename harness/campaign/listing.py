# SPDX-License-Identifier: GPL-2.0-only
"""The trials that campaign.json lists: those of every run in the folder, and which of them count.

A run with fewer seeds, of some cells, or with other captures hides nothing that is there: its
trials are added. Those whose cell is made otherwise now, by another plan or other software, stay
in the list and do not count, until the experiment is again as it was.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from analysis import likeness
from analysis.campaign_file import Entry
from analysis.errors import RecordError
from analysis.records import read_asked
from harness.design.trials import PlannedTrial
from harness.records import identity, record
from harness.runners.options import Options

# Of the software of a trial, what its kernels and packages say.
OF_A_KERNEL = ("kernel", "release", "receiver_kernel", "receiver_release", "linked", "layer")


def listed(
    known: Iterable[Entry], records: Path, trials: Sequence[PlannedTrial], options: Options
) -> list[Entry]:
    """All trials of a folder, those of the present experiment first.

    Args:
        known: of its header before.
        records: its folder of records, which has them also where a header lost them.
        trials: all that the experiment is now, with the seeds and captures of this run.
    """
    now = {entry.trial: entry for entry in planned(trials, options)}
    cells = {entry.cell for entry in now.values() if entry.cell}
    of_header = {entry.trial: entry for entry in known if entry.cell}
    before = of_header | {entry.trial: entry for entry in recorded(records, of_header.keys() | now)}
    others = [entry for name, entry in before.items() if name not in now]
    unbuilt = Unbuilt(trials, options)
    return [
        *now.values(),
        *(replace(e, counts=e.cell in cells or unbuilt.has(records / e.trial)) for e in others),
    ]


class Unbuilt:
    """The trials whose kernels or packages are not there, in what is known of them without.

    A run with --only builds nothing for the trials that it leaves out.
    """

    def __init__(self, trials: Sequence[PlannedTrial], options: Options) -> None:
        self.options = options
        found = {str(dict(one.factors)): one for one in trials if not one.is_ready}
        self.known = {self._text(record.asked(one, self._software())) for one in found.values()}

    def has(self, folder: Path) -> bool:
        """May a record, that another plan or software may have made, be of one of them?"""
        if not self.known:
            return False
        try:
            return self._text(read_asked(folder)) in self.known
        except RecordError:
            return False

    def _software(self) -> dict[str, str]:
        ran = {"lab": self.options.lab, "clock": self.options.clock}
        return ran | identity.software(self.options.lab)

    def _text(self, asked: Mapping[str, Any]) -> str:
        """What makes a trial, but for its kernels, packages and what a kernel has not."""
        essence = likeness.essence(asked)
        software = {name: x for name, x in essence["software"].items() if name not in OF_A_KERNEL}
        return json.dumps([without(essence["plan"], "sysctl"), software], sort_keys=True)


def without(nested: Any, key: str) -> Any:
    """Nested objects without the values of a key."""
    if isinstance(nested, Mapping):
        return {name: without(x, key) for name, x in nested.items() if name != key}
    if isinstance(nested, Sequence) and not isinstance(nested, str):
        return [without(x, key) for x in nested]
    return nested


def planned(trials: Sequence[PlannedTrial], options: Options) -> Iterator[Entry]:
    """The entries of an experiment's trials."""
    known: dict[str, str] = {}
    for trial in trials:
        factors = dict(trial.factors)
        levels = str(factors)
        if not trial.is_ready:
            known[levels] = ""  # a kernel that is not built has no identity
        elif levels not in known:
            ran = {"lab": options.lab, "clock": options.clock,
                   **identity.software(options.lab, trial.kernel, trial.receiver,
                                       trial.layer_folder)}  # fmt: skip
            known[levels] = likeness.cell(record.asked(trial, ran))
        yield Entry(trial=trial.name, factors=factors, seed=trial.plan.seed, cell=known[levels])


def recorded(records: Path, but: Iterable[str]) -> Iterator[Entry]:
    """The entries of records, those that are not known already."""
    known = set(but)
    for folder in sorted(records.glob("[!.]*")):
        if folder.name in known:
            continue
        try:
            asked = read_asked(folder)
        except RecordError:
            continue  # whoever reads the campaign says so
        yield Entry(
            trial=folder.name,
            factors=asked["factors"],
            seed=asked["seed"],
            cell=likeness.cell(asked),
        )
