# SPDX-License-Identifier: GPL-2.0-only
"""Checks that every parameter class makes of its own values, with one line for what is wrong."""

import math
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from workload.errors import WorkloadError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_KINDS = {int: "a whole number", float: "a number", str: "a text", bool: "true or false"}


def check_types(params: "DataclassInstance") -> None:
    """Raise WorkloadError for a field that is not of its annotated type (a float may be whole)."""
    for field in fields(params):
        value = getattr(params, field.name)
        if field.type in _KINDS and not _fits(value, field.type):
            raise WorkloadError(f"workload.{field.name}: {value!r}, must be {_KINDS[field.type]}")


def check_range(params: "DataclassInstance", **limits: tuple[float, float]) -> None:
    """Raise WorkloadError for a named field that is not within its (lowest, highest) value."""
    for key, (low, high) in limits.items():
        value = getattr(params, key)
        if not low <= value <= high:
            raise WorkloadError(f"workload.{key}: {value!r}, must be {low:g}..{high:g}")


def check_one_of(params: "DataclassInstance", **choices: tuple[str, ...]) -> None:
    """Raise WorkloadError for a named field that is none of its choices."""
    for key, known in choices.items():
        value = getattr(params, key)
        if value not in known:
            raise WorkloadError(f"workload.{key}: {value!r}, must be one of {', '.join(known)}")


def _fits(value: Any, kind: Any) -> bool:
    if isinstance(value, bool) or kind is bool:
        return isinstance(value, bool) and kind is bool
    if kind is float:
        return isinstance(value, int | float) and abs(value) < math.inf
    return isinstance(value, kind)
