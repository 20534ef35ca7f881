# SPDX-License-Identifier: GPL-2.0-only
"""How much of a campaign is there: which of its trials have a record, failed, or are missing.

The header lists the trials of the experiment. The events tell which of them a run was asked for
(`--only` leaves trials out), and why a trial left no record.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis.campaign_file import Entry, read_header
from analysis.errors import RecordError
from analysis.files import regular
from analysis.records import CampaignRecords, level_text
from analysis.report import named
from analysis.report.model import Column, Sheet
from analysis.under_way import holder

EVENTS = "events.jsonl"
STARTED, FAILED, ENDED = "campaign-started", "trial-failed", "trial-ended"
NOT_RUN = "no run of it has ended"
MOST_LETTERS = 300
"""Letters of a reason that a table shows."""

Pair = tuple[tuple[tuple[str, str], ...], int | None]
"""The levels of a trial and its seed."""


@dataclass(frozen=True, kw_only=True)
class Standing:
    """The trials of a campaign by what became of them.

    Attributes:
        there: the number of those that have a record, valid or not.
        failed: each trial that left no record, and why, in one line.
        missing: those that were to run and have not ended.
        others: the number of trials of the experiment that no run was asked for.
        under_way: who works in the folder now; "": nobody.
    """

    there: int
    failed: Mapping[str, str]
    missing: tuple[str, ...]
    others: int
    under_way: str = ""

    @property
    def planned(self) -> int:
        """How many trials the runs of this folder were asked for."""
        return self.there + len(self.failed) + len(self.missing)

    @property
    def whole(self) -> bool:
        """Has each planned trial a record?"""
        return not self.failed and not self.missing

    def sentence(self) -> str:
        """How many trials are planned, there, failed and missing."""
        if self.whole:
            have = "it has" if self.planned == 1 else f"all {self.planned} have"
            text = f"{counted(self.planned, 'trial')} planned: {have} a record"
        else:
            text = (
                f"{counted(self.planned, 'trial')} planned: {self.there} "
                f"{'has' if self.there == 1 else 'have'} a record, {len(self.failed)} failed, "
                f"{len(self.missing)} {'is' if len(self.missing) == 1 else 'are'} missing"
            )
        if self.others:
            text += f" (with these seeds, the experiment has {counted(self.others, 'more trial')})"
        if self.under_way:
            text += f". A run is under way ({self.under_way}), so more records may come"
        return text

    def sheet(self) -> Sheet:
        """The trials without a record, each with the reason."""
        why = "a run is under way" if self.under_way else NOT_RUN
        found = {**self.failed, **dict.fromkeys(self.missing, why)}
        states = ["failed"] * len(self.failed) + ["missing"] * len(self.missing)
        return Sheet(
            name="without-record",
            heads=0,
            caption="The trials without a record",
            columns=[
                Column(name=name, title=name.capitalize()) for name in ("trial", "state", "reason")
            ],
            rows=[
                [name, state, why] for (name, why), state in zip(found.items(), states, strict=True)
            ],
        )


def how_to_run(folder: Path, under_way: str = "") -> str:
    """What to do for the trials without a record."""
    if under_way:
        return (
            f"A run is under way ({under_way}). Make the report again when the run has ended: type"
            f" ./cellbed report {shlex.quote(str(folder))}."
        )
    return (
        "To run these trials, give the same command again: ./cellbed run with your experiment file"
        f" and the same options, also --out {shlex.quote(str(folder))}. It keeps the finished"
        f" trials. The file {EVENTS} in this folder has the whole messages."
    )


def first_failure(found: Standing) -> str:
    """The first trial that failed, and why; "" where none did."""
    return next((f"; {name}: {why}" for name, why in found.failed.items()), "")


def counted(number: int, noun: str) -> str:
    """A number with its noun."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def standing(campaign: CampaignRecords) -> Standing:
    """What became of each trial of a campaign."""
    present = {
        pair(one.factors, one.seed)
        for one in (*campaign.trials, *campaign.invalid, *campaign.superseded)
    }
    return standing_of(campaign.folder, present, dict(campaign.unreadable))


def standing_of(folder: Path, present: set[Pair], unreadable: Mapping[str, str]) -> Standing:
    """The same of a folder of results.

    present: the trials with a record; unreadable: those whose record cannot be read, and why.
    """
    try:
        listed = read_header(folder).trials or ()
    except RecordError:
        listed = ()
    asked, reasons = told_by_events(folder / EVENTS)
    reasons |= unreadable
    wanted: dict[Pair, Entry] = {}
    others: set[Pair] = set()
    for entry in listed:
        key = pair(entry.factors, entry.seed)
        if not entry.counts or key in present:
            continue
        if asked and entry.trial not in asked:
            others.add(key)
        elif key not in wanted or entry.trial in reasons:
            wanted[key] = entry
    without = {
        named.trial(one.factors, one.seed): reasons.get(one.trial) for one in wanted.values()
    }
    return Standing(
        there=len(present),
        failed={name: why for name, why in without.items() if why is not None},
        missing=tuple(name for name, why in without.items() if why is None),
        others=len(others - wanted.keys()),
        under_way=holder(folder),
    )


def pair(levels: Mapping[str, object], seed: int | None) -> Pair:
    """By this trials are told apart, whatever was recorded of them."""
    return tuple(sorted((name, level_text(level)) for name, level in levels.items())), seed


def told_by_events(path: Path) -> tuple[set[str], dict[str, str]]:
    """The trials that any run was asked for, and why each of those failed that did."""
    asked: set[str] = set()
    reasons: dict[str, str] = {}
    for event in events(path):
        if event.get("event") == STARTED:
            asked |= {str(name) for name in event.get("trials") or ()}
        elif event.get("event") == FAILED and not event.get("retried"):
            reasons[str(event.get("trial"))] = first_line(str(event.get("reason")))
        else:
            reasons.pop(str(event.get("trial")), None)
    return asked, reasons


def events(path: Path) -> Iterator[dict[str, Any]]:
    """The events that matter here; none where the file is missing, or a line is torn."""
    try:
        with regular(path).open(encoding="utf-8", errors="replace") as file:
            for line in file:
                if any(f'"{kind}"' in line for kind in (STARTED, FAILED, ENDED)):
                    try:
                        found = json.loads(line)
                    except ValueError:
                        continue
                    if isinstance(found, dict):
                        yield found
    except OSError:
        return


def first_line(reason: str) -> str:
    """A reason in one line; the rest of it is in the events."""
    line = reason.partition("\n")[0]
    return line if len(line) <= MOST_LETTERS else f"{line[:MOST_LETTERS]}..."
