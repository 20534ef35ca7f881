# SPDX-License-Identifier: GPL-2.0-only
"""Makes one campaign of the campaigns of shards: copies their records, each whole or not at all.

A record is copied under its own name, which has a hash of its plan and its software. So nothing has
to be decided, and what was copied before is not copied again. The shards stay as they are, and may
still be running. One that is damaged, or a record that is, does not keep the others from being
copied.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from analysis.campaign_file import NAME as HEADER
from analysis.errors import RecordError
from analysis.records import read_asked
from harness.campaign import unfinished
from harness.campaign.lock import locked, only_begun
from harness.campaign.shard_headers import joined
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
        unfinished: numbers of the shards of the missing trials, where that is known.
        several_seeds: the shards were run with different numbers of seeds.
        older: records there that do not count, being of other settings or software.
        no_shards: folders that were not taken, each with the reason.
        refused: records that were not taken, or are damaged where they were taken to, each with
            the reason.
        damaged: names of records that are damaged where they were taken to.
    """

    copied: int = 0
    there: int = 0
    missing: list[str] = field(default_factory=list)
    unfinished: list[int] = field(default_factory=list)
    several_seeds: bool = False
    older: int = 0
    no_shards: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    damaged: set[str] = field(default_factory=set)


def merge(into: Path, shards: Sequence[Path]) -> Merged:
    """Copy the records of campaigns of one experiment into a folder, which may have some already.

    Raises:
        UsageError: no folder is a campaign, or one is of another experiment or other software;
            nothing is copied then.
    """
    headers = joined(shards)
    refuse_strange(into)
    make_folder(into)
    with locked(into):
        if (into / HEADER).exists():
            headers.add_target(into)
        write_whole(into / HEADER, json.dumps(headers.document(), indent=1) + "\n")
        make_folder(into / "trials")
        found = Merged(no_shards=headers.unreadable, several_seeds=headers.several_seeds)
        for shard in headers.shards:
            for record in records_of(shard, found):
                take(record, into / "trials", found)
    there = {path.name for path in judgement.records(into)} - found.damaged
    trials = headers.counting()
    found.missing = [entry.trial for entry in trials if entry.trial not in there]
    found.unfinished = unfinished.numbers(trials, found.missing, headers.shards)
    found.older = sum(entry.trial in there and not entry.counts
                      for entry in headers.trials.values())  # fmt: skip
    return found


def refuse_strange(into: Path) -> None:
    """UsageError for a folder that no merge and no run has made."""
    if into.exists() and not into.is_dir():
        raise UsageError(f"{into} is a file; name a new folder")
    if not into.exists() or (into / HEADER).exists():
        return
    if not only_begun(into):
        raise UsageError(f"{into} has files but no {HEADER}; name an empty or a new folder")


def records_of(shard: Path, found: Merged) -> list[Path]:
    """All that a shard has in place of records; none where it has not begun."""
    try:
        return files_of(shard / "trials")
    except FileNotFoundError:
        return []
    except OSError as error:
        found.refused.append(str(error))
        return []


def take(record: Path, records: Path, found: Merged) -> None:
    """Copy a record, if none is there; the copy is compared with the record's checksums."""
    present = records / record.name
    if reason := why_not(record):
        found.refused.append(reason)
    elif os.path.lexists(present):
        compare(record, present, found)
    else:
        copy(record, records, found)


def compare(record: Path, present: Path, found: Merged) -> None:
    """Look at a record that is there already: it must be whole, and the same."""
    if reason := why_not(present) or damage(present):
        found.damaged.add(present.name)
        found.refused.append(reason)
        return
    found.there += 1
    if damaged := damage(record):
        found.refused.append(damaged)
    elif different := differing(record, present):
        found.refused.append(f"{record} differs from {present} in {', '.join(different)}")
    elif judgement.known(record) and not (present / FILE).exists():
        # Its shard was killed before it judged the record, and has judged it since.
        write_whole(present / FILE, (record / FILE).read_text("utf-8"))


def damage(record: Path) -> str | None:
    """What is no longer as it was recorded; None: nothing."""
    changed = changed_files(record)
    return f"{record} is damaged: {', '.join(changed)}" if changed else None


def copy(record: Path, records: Path, found: Merged) -> None:
    """Copy a record that is not there, or nothing of it."""
    with suppress(ChangedError), whole_folder(records, record.name) as partial:
        for path in files_of(record):
            shutil.copyfile(path, partial / path.name)
        if damage(partial):
            found.refused.append(damage(record) or f"{record} was changed while it was copied")
            raise ChangedError
        found.copied += 1


class ChangedError(Exception):
    """A record is not as it was recorded."""


def why_not(record: Path) -> str | None:
    """Why a record is not even looked at; None: it may be copied.

    A link in it would bring any file of this machine into the copy, and reading a pipe might
    never end. Under another trial's name it would be taken for that trial's.
    """
    try:
        for path in (record, *files_of(record)):
            wanted = stat.S_ISDIR if path == record else stat.S_ISREG
            if not wanted(path.lstat().st_mode):
                return f"{path} is not a {'folder' if path == record else 'file'}"
            if not os.access(path, os.R_OK):
                return f"{path} may not be read"
        trial = read_asked(record)["trial"]
    except (OSError, RecordError) as error:
        return f"{error}"
    return f"{record} is a record of the trial {trial}" if trial != record.name else None


def files_of(record: Path) -> list[Path]:
    """What a folder holds, but for what somebody is writing."""
    return sorted(path for path in record.iterdir() if not path.name.startswith("."))


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
    for line in (record / SUMS).read_text().splitlines():
        found, name = line.split("  ", 1)
        yield name, found
