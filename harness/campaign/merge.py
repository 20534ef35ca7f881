# SPDX-License-Identifier: GPL-2.0-only
"""Makes one campaign of the campaigns of shards: copies their records, each whole or not at all.

A record is copied under its own name, which has a hash of its plan and its software. So nothing has
to be decided, and what was copied before is not copied again. The shards stay as they are, and may
still be running.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from analysis.campaign_file import NAME as HEADER
from analysis.campaign_file import CampaignFile, Entry, of_document, read_document
from analysis.errors import RecordError
from analysis.files import regular
from analysis.records import read_asked
from harness.campaign.lock import locked
from harness.host.ownership import make_folder
from harness.judge import judgement
from harness.judge.judgement import FILE
from harness.records.seal import SUMS, changed_files
from harness.records.whole import whole_folder, write_whole
from plan.errors import UsageError

RUN = "run.json"  # tells of the run alone: no two runs of a trial have the same


@dataclass(kw_only=True)
class Merged:
    """What a merge came to.

    Attributes:
        copied, there: records that were copied, and that were there before.
        missing: trials of the experiment that have no record yet.
        refused: records that were not taken, each with the reason.
    """

    copied: int = 0
    there: int = 0
    missing: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)


def merge(into: Path, shards: Sequence[Path]) -> Merged:
    """Copy the records of campaigns of one experiment into a folder, which may have some already.

    Raises:
        UsageError: a folder is no campaign, or one of another experiment or other software;
            nothing is copied then.
    """
    headers = joined([*([into] if (into / HEADER).exists() else []), *shards])
    if into.exists() and not (into / HEADER).exists() and any(into.iterdir()):
        raise UsageError(f"{into} has files but no {HEADER}; name an empty or a new folder")
    make_folder(into)
    with locked(into):
        write_whole(into / HEADER, json.dumps(headers.document(), indent=1) + "\n")
        make_folder(into / "trials")
        found = Merged()
        for shard in shards:
            for record in judgement.records(shard):
                take(record, into / "trials", found)
    names = [entry.trial for entry in headers.trials.values() if entry.counts]
    found.missing = [name for name in names if not (into / "trials" / name).exists()]
    return found


@dataclass(kw_only=True)
class Headers:
    """What the headers of several campaigns say together.

    Attributes:
        last: the last one; {} before the first.
        commits: those of all.
        trials: by their names. One counts that counts in any header.
        cells: levels -> the hash of the cell, and the first folder with it.
    """

    last: Mapping[str, Any] = field(default_factory=dict)
    commits: dict[str, None] = field(default_factory=dict)
    trials: dict[str, Entry] = field(default_factory=dict)
    cells: dict[tuple[tuple[str, object], ...], tuple[str, Path]] = field(default_factory=dict)

    def add(self, folder: Path, header: CampaignFile) -> None:
        """Join one more; UsageError where it had other settings or software for a cell."""
        for entry in header.trials or ():
            if entry.counts:
                levels = tuple(sorted(entry.factors.items()))
                cell, first = self.cells.setdefault(levels, (entry.cell, folder))
                if cell != entry.cell:
                    raise UsageError(
                        f"{folder} and {first} were run with different settings or software "
                        f"(trial {entry.trial}); run the older shard again"
                    )
            if entry.counts or entry.trial not in self.trials:
                self.trials[entry.trial] = entry

    def document(self) -> dict[str, Any]:
        """One header in place of all."""
        trials = [asdict(entry) for entry in self.trials.values()]
        return {**self.last, "commits": list(self.commits), "trials": trials}


def joined(folders: Sequence[Path]) -> Headers:
    """What the headers of campaigns say together.

    Each of a hundred shards lists all trials of an experiment. So no more than two headers are in
    memory at a time, and one that says the same as the one before it is not read a second time.

    Raises:
        UsageError: a folder is no campaign, or one of another experiment or other software.
    """
    found = Headers()
    try:
        for folder in folders:
            document = read_document(folder)
            refuse_another_experiment(folders[0], found.last or document, folder, document)
            found.commits |= dict.fromkeys(map(str, document.get("commits") or ()))
            if document != {**found.last, "commits": document.get("commits")}:
                found.add(folder, of_document(folder, document))
            found.last = document
    except RecordError as error:
        raise UsageError(str(error)) from error
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


def take(record: Path, records: Path, found: Merged) -> None:
    """Copy a record, if none is there; the copy is compared with the record's checksums."""
    present = records / record.name
    if present.exists():
        found.there += 1
        if different := differing(record, present):
            found.refused.append(f"{record} differs from {present} in {', '.join(different)}")
        elif (record / FILE).exists() and not (present / FILE).exists():
            # Its shard was killed before it judged the record, and has judged it since.
            write_whole(present / FILE, regular(record / FILE).read_text("utf-8"))
        return
    with suppress(ChangedError), whole_folder(records, record.name) as partial:
        for path in record.iterdir():
            if not path.name.startswith("."):  # somebody is writing that
                shutil.copyfile(regular(path), partial / path.name)
        if changed := changed_files(partial):
            found.refused.append(f"{record} is damaged: {', '.join(changed)}")
            raise ChangedError
        found.copied += 1


class ChangedError(Exception):
    """A record is not as it was recorded."""


def differing(one: Path, other: Path) -> list[str]:
    """Files of which two records of a trial have other contents; in real time they may."""
    try:
        if read_asked(one)["software"].get("clock") == "real":
            return []
        sums = [dict(checksums(folder)) for folder in (one, other)]
    except (RecordError, OSError, ValueError):
        return [SUMS]
    return sorted(name for name in sums[0].keys() | sums[1].keys()
                  if name != RUN and sums[0].get(name) != sums[1].get(name))  # fmt: skip


def checksums(record: Path) -> Iterator[tuple[str, str]]:
    """Each file that a record was sealed with, and its checksum."""
    for line in regular(record / SUMS).read_text().splitlines():
        found, name = line.split("  ", 1)
        yield name, found
