# SPDX-License-Identifier: GPL-2.0-only
"""The trials that campaign.json lists: those of every run in the folder, and which of them count.

A run with fewer seeds, of some cells, or with other captures hides nothing that is there: its
trials are added. Those whose cell is made otherwise now, by another plan or other software, stay
in the list and do not count, until the experiment is again as it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from analysis import likeness
from analysis.campaign_file import Entry
from analysis.errors import RecordError
from analysis.records import read_asked
from harness.design.trials import PlannedTrial
from harness.records import identity, record
from harness.runners.options import Options


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
    cells = {entry.cell for entry in now.values()}
    of_header = {entry.trial: entry for entry in known if entry.cell}
    before = of_header | {entry.trial: entry for entry in recorded(records, of_header.keys() | now)}
    others = [entry for name, entry in before.items() if name not in now]
    return [*now.values(), *(replace(e, counts=e.cell in cells) for e in others)]


def planned(trials: Sequence[PlannedTrial], options: Options) -> Iterator[Entry]:
    """The entries of an experiment's trials."""
    known: dict[str, str] = {}
    for trial in trials:
        factors = dict(trial.factors)
        levels = str(factors)
        if levels not in known:
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
