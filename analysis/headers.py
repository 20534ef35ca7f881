# SPDX-License-Identifier: GPL-2.0-only
"""The two files at the head of a record: trial.json and run.json (docs/records.md)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from analysis.errors import RecordError

# Of what a lab says, what tells of the run and not of the trial: clock readings of the lab, and
# what holds them or port numbers, which depend on the trials that the lab ran before.
OF_THE_RUN = frozenset(
    "virtual_s drained_s system tcp t0_ns clock_offset_ns first_departure_ns last_departure_ns"
    .split()
)  # fmt: skip


class Header(BaseModel):
    """Base of both; keys that this version does not know are let pass."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True, allow_inf_nan=False)


class TrialHeader(Header):
    """What was asked for, and what ran it."""

    format: Literal["cellbed-trial/2"] = "cellbed-trial/2"
    trial: str
    factors: dict[str, str | int | float]
    seed: int
    software: dict[str, str]
    plan: dict[str, Any]


class RunHeader(Header):
    """What tells of the run: when it ended (UTC, ISO 8601), seconds of the wall and of processors.

    lab: the part of the lab's document that tells of the run, at its place in the document.
    """

    format: Literal["cellbed-run/1"] = "cellbed-run/1"
    ended: str
    wall_s: float
    cpu_s: float
    lab: dict[str, Any]


def require(path: Path, document: Mapping[str, Any], header: type[Header]) -> None:
    """RecordError naming file, key and what is wrong, unless the document is such a header."""
    try:
        header.model_validate(document)
    except ValidationError as error:
        fault = error.errors()[0]
        # Deeper than a key of a table are the kinds that a value might have been of.
        key = ".".join(str(part) for part in fault["loc"][:2])
        raise RecordError(f"{path}: {key}: {fault['msg']}") from None
