# SPDX-License-Identifier: GPL-2.0-only
"""Makes one campaign of the campaigns of shards: copies their records, each whole or not at all.

A record is copied under its own name, which has a hash of its plan and its software. So nothing has
to be decided, and what was copied before is not copied again. The shards stay as they are, and may
still be running.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

from analysis.campaign_file import NAME as HEADER
from analysis.campaign_file import CampaignFile, Entry, read_header
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
    folders = [*([into] if (into / HEADER).exists() else []), *shards]
    headers = {folder: header_of(folder) for folder in folders}
    refuse_other_experiments(headers)
    trials = joined(headers)
    if into.exists() and not (into / HEADER).exists() and any(into.iterdir()):
        raise UsageError(f"{into} has files but no {HEADER}; name an empty or a new folder")
    make_folder(into)
    with locked(into):
        write_header(into, headers, trials)
        make_folder(into / "trials")
        found = Merged()
        for shard in shards:
            for record in judgement.records(shard):
                take(record, into / "trials", found)
    names = [entry.trial for entry in trials if entry.counts]
    found.missing = [name for name in names if not (into / "trials" / name).exists()]
    return found


def header_of(folder: Path) -> CampaignFile:
    """The header of a campaign; UsageError where there is none."""
    try:
        return read_header(folder)
    except RecordError as error:
        raise UsageError(str(error)) from error


def refuse_other_experiments(headers: Mapping[Path, CampaignFile]) -> None:
    """UsageError where two folders are of experiments with different names."""
    (first, header), *others = headers.items()
    for folder, other in others:
        names = [one.document.get("name") for one in (header, other)]
        if names[0] != names[1]:
            raise UsageError(
                f"{folder} belongs to the experiment {names[1]}, and {first} to {names[0]}; "
                "merge folders of one experiment"
            )


def joined(headers: Mapping[Path, CampaignFile]) -> list[Entry]:
    """All trials that the headers list. One counts that counts in any of them.

    Raises:
        UsageError: of a cell some shards ran another plan, or with other software, than others.
    """
    trials: dict[str, Entry] = {}
    cells: dict[tuple[tuple[str, object], ...], tuple[str, Path]] = {}
    for folder, header in headers.items():
        for entry in header.trials or ():
            if entry.counts:
                levels = tuple(sorted(entry.factors.items()))
                cell, first = cells.setdefault(levels, (entry.cell, folder))
                if cell != entry.cell:
                    raise UsageError(
                        f"{folder} and {first} were run with different settings or software "
                        f"(trial {entry.trial}); run the older shard again"
                    )
            if entry.counts or entry.trial not in trials:
                trials[entry.trial] = entry
    return list(trials.values())


def write_header(into: Path, headers: Mapping[Path, CampaignFile], trials: Iterable[Entry]) -> None:
    """What the last one says, with all trials and all commits."""
    documents = [header.document for header in headers.values()]
    commits = dict.fromkeys(str(x) for one in documents for x in one.get("commits") or ())
    header = {
        **documents[-1],
        "commits": list(commits),
        "trials": [asdict(entry) for entry in trials],
    }
    write_whole(into / HEADER, json.dumps(header, indent=1) + "\n")


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
