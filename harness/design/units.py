# SPDX-License-Identifier: GPL-2.0-only
"""Numbers that people write with a unit, for keys that have the unit in their name. Pure."""

from __future__ import annotations

import re
from fractions import Fraction

NUMBER = re.compile(r"(\d[\d_]*(?:\.\d+)?|\.\d+)\s*([A-Za-zµ%][\w/%]*)")
WORDS = {
    "_bit_per_s": "bits a second",
    "_bytes": "bytes",
    "_cells": "cells",
    "_packets": "packets",
    "_percent": "percent",
    "_ns": "nanoseconds",
    "_us": "microseconds",
    "_ms": "milliseconds",
    "_s": "seconds",
}
"""The end of a key's name and the unit that it stands for; the longest ends first."""
TIMES = {
    **{"ns": Fraction(1, 10**9), "us": Fraction(1, 10**6), "µs": Fraction(1, 10**6)},
    **{"ms": Fraction(1, 1000), "s": Fraction(1), "sec": Fraction(1), "min": Fraction(60)},
}
RATE = re.compile(r"([kmg]?)(?:bps|bits?/s|bits?_per_s|bits?|b/s)?")
PREFIXES = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9}


def unit_of(key: str) -> str:
    """The end of a key that names its unit; "" where it names none."""
    return next((end for end in WORDS if key.endswith(end)), "")


def in_unit(value: Fraction, unit: str, end: str) -> Fraction | None:
    """A value with a unit in that of a key with this end; None: they do not go together."""
    unit = unit.casefold()
    if unit in TIMES and f"_{end.lstrip('_')}" in ("_ns", "_us", "_ms", "_s"):
        return value * TIMES[unit] / TIMES[end.lstrip("_")]
    rate = RATE.fullmatch(unit)
    if rate and end == "_bit_per_s":
        return value * PREFIXES[rate[1]]
    return value if unit and unit == end.lstrip("_") else None


def as_number(value: Fraction) -> str:
    """A value as TOML has it."""
    return f"{int(value):_}" if value.denominator == 1 else f"{float(value):g}"


def without_unit(key: str, word: str) -> str:
    """How to write a number that has a unit; "" for a word that is no such number."""
    found = NUMBER.fullmatch(word)
    if not found:
        return ""
    end = unit_of(key)
    if not end:
        return f"{word} has a unit: write the number alone"
    value = in_unit(Fraction(found[1].replace("_", "")), found[2], end)
    said = f"{word} has a unit; {key} is a number of {WORDS[end]}"
    return said if value is None else f"{said}: write {as_number(value)}"
