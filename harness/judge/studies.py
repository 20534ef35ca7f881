# SPDX-License-Identifier: GPL-2.0-only
"""Finds the studies of studies/: the one place that imports any."""

from __future__ import annotations

import importlib
from pathlib import Path

from analysis.study import NONE, Study
from harness.host.paths import PROJECT
from plan.errors import UsageError
from plan.near import nearest

FOLDER = "studies"


def known() -> list[str]:
    """The ids of the studies that are there."""
    return sorted(path.parent.name for path in (PROJECT / FOLDER).glob("*/study.py"))


def find(name: str | None) -> Study:
    """The study of an id; the empty one where there is no id.

    Raises:
        UsageError: there is no such study; the message lists those that there are.
    """
    if name is None:
        return NONE
    if name not in known():
        meant = nearest(name, known())
        raise UsageError(
            f"study = {name}: this study does not exist; the studies are {', '.join(known())}"
            f"{f'; did you mean {meant}?' if meant else ''}"
        )
    study: Study = importlib.import_module(module(name)).STUDY
    return study


def folder(name: str) -> Path:
    """Where a study's files are."""
    return PROJECT / FOLDER / name


def module(name: str) -> str:
    """The name of a study's module."""
    return f"{FOLDER}.{name}.study"
