# SPDX-License-Identifier: GPL-2.0-only
"""Makes one header, campaign.json, of the headers of an experiment's shards.

Each of a hundred shards lists all trials of the experiment. So no more than two headers are in
memory at a time, and one that says the same as the one before it is not read a second time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from analysis.campaign_file import Entry, commits_of, of_document, read_document, read_header
from analysis.errors import RecordError
from plan.errors import UsageError


@dataclass(kw_only=True)
class Headers:
    """What the headers of several shards say together.

    Attributes:
        shards: their folders.
        unreadable: folders without a header that can be read, each with the reason.
        last: the last header; {} before the first.
        commits: those of all.
        several_seeds: not all shards list the same trials, though they are of the same cells.
        trials: by their names. One counts that counts in any header.
        cells: hashes of the experiment's cells; None before the first header.
    """

    shards: list[Path] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    last: Mapping[str, Any] = field(default_factory=dict)
    commits: dict[str, None] = field(default_factory=dict)
    trials: dict[str, Entry] = field(default_factory=dict)
    cells: set[str] | None = None
    several_seeds: bool = False

    def add(self, folder: Path, document: Mapping[str, Any]) -> None:
        """Join one more.

        Raises:
            UsageError: it is of another experiment, or of other settings or software.
            RecordError: it is damaged, or lists no trials.
        """
        if document == {**self.last, "commits": document.get("commits")}:
            self._said_again(folder, document)
            return
        entries = of_document(folder, document).trials or ()
        if not all(entry.cell for entry in entries) or not entries:
            raise RecordError(f"{folder} does not say of which cells its trials are")
        if self.last:
            refuse_another_experiment(self.shards[0], self.last, folder, document)
        counting = {entry.cell: entry.trial for entry in entries if entry.counts}
        if self.cells is None:
            self.cells = set(counting)
        elif strange := sorted(self.cells ^ counting.keys()):
            trial = counting.get(strange[0]) or self._of_cell(strange[0])
            raise UsageError(
                f"{folder} and {self.shards[0]} were run with different settings or software "
                f"(trial {trial}); run the older shard again, and merge shards of one experiment"
            )
        names = {entry.trial for entry in entries if entry.counts}
        self.several_seeds |= bool(self.shards) and names != {x.trial for x in self.counting()}
        for entry in entries:
            if entry.counts or entry.trial not in self.trials:
                self.trials[entry.trial] = entry
        self._said_again(folder, document)

    def _said_again(self, folder: Path, document: Mapping[str, Any]) -> None:
        self.shards.append(folder)
        self.commits |= dict.fromkeys(commits_of(document))
        self.last = document

    def _of_cell(self, cell: str) -> str:
        """The first trial of a cell."""
        return next(entry.trial for entry in self.trials.values() if entry.cell == cell)

    def add_target(self, folder: Path) -> None:
        """Join the header of the folder that the shards are merged into, after theirs.

        As after a run in that folder, trials of other settings or software stay in the list and do
        not count.

        Raises:
            UsageError: it cannot be read, or is of another experiment.
        """
        try:
            header = read_header(folder)
        except RecordError as error:
            raise UsageError(f"{error}; merge into a new folder") from error
        refuse_another_experiment(self.shards[0], self.last, folder, header.document)
        self.commits = dict.fromkeys([*commits_of(header.document), *self.commits])
        for entry in header.trials or ():
            counts = entry.counts and entry.cell in (self.cells or ())
            self.trials.setdefault(entry.trial, replace(entry, counts=counts))

    def counting(self) -> list[Entry]:
        """The trials of the experiment."""
        return [entry for entry in self.trials.values() if entry.counts]

    def document(self) -> dict[str, Any]:
        """One header in place of all."""
        trials = [asdict(entry) for entry in self.trials.values()]
        return {**self.last, "commits": list(self.commits), "trials": trials}


def joined(folders: Sequence[Path]) -> Headers:
    """What the headers of shards say together.

    Raises:
        UsageError: no folder is a campaign, or one is of another experiment or other software.
    """
    found = Headers()
    for folder in folders:
        try:
            found.add(folder, read_document(folder))
        except (RecordError, OSError) as error:
            found.unreadable.append(str(error))
    if not found.shards:
        raise UsageError(found.unreadable[0])
    return found


def refuse_another_experiment(
    first: Path, said: Mapping[str, Any], folder: Path, document: Mapping[str, Any]
) -> None:
    """UsageError where two folders are of experiments with different names."""
    if said.get("name") != document.get("name"):
        raise UsageError(
            f"{folder} belongs to the experiment {document.get('name')}, and {first} to "
            f"{said.get('name')}; merge folders of one experiment"
        )
