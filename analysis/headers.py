# SPDX-License-Identifier: GPL-2.0-only
"""The two files at the head of a record: trial.json and run.json (docs/records.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from analysis.errors import RecordError
from plan import schema
from plan.plan import Level

Header = TypeVar("Header", "TrialHeader", "RunHeader")
# Of what a lab says, what tells of the run and not of the trial: clock readings of the lab, and
# what holds them or port numbers, which depend on the trials that the lab ran before. `sums` of a
# moving path came later: in lab.json, it would change the digests of all kept trials with a path.
OF_THE_RUN = frozenset(
    "virtual_s drained_s system tcp t0_ns clock_offset_ns first_departure_ns last_departure_ns"
    " origin_ns sums"
    .split()
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class TrialHeader:
    """What was asked for, and what ran it."""

    format: str = "cellbed-trial/2"
    trial: str
    factors: Mapping[str, Level]
    seed: int
    software: Mapping[str, str]
    plan: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class RunHeader:
    """What tells of the run: when it ended (UTC, ISO 8601), seconds of the wall and of processors.

    lab: the part of the lab's document that tells of the run, at its place in the document.
    cellbed: the version of cellbed; "" in records of before it was noted.
    """

    format: str = "cellbed-run/1"
    ended: str
    wall_s: float
    cpu_s: float
    lab: Mapping[str, Any]
    cellbed: str = field(default="", metadata={"later": True})


def header(path: Path, document: Mapping[str, Any], kind: type[Header]) -> Header:
    """The header that a file's JSON object is; keys that this version does not know are let pass.

    Raises:
        RecordError: names file, key, value and what is allowed.
    """
    try:
        return schema.from_json(kind, document, "", others=True)
    except schema.TypedError as error:
        raise RecordError(f"{path}: {error}") from None
