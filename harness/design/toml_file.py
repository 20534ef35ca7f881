# SPDX-License-Identifier: GPL-2.0-only
"""Reads a TOML file that a person wrote: what comes back has no value that could do harm.

Texts have no control characters (they become file names, arguments of programs, fields of
tables), numbers are finite and fit in 64 bits.
"""

from __future__ import annotations

import math
import re
import tomllib
import unicodedata
from pathlib import Path
from typing import Any

from plan.errors import UsageError

MOST_BYTES = 1 << 20
MOST_DEPTH = 16
# tomllib copies a key's beginning for each of its parts: one of a megabyte takes it hours.
PART = rb"""[ \t]*(?:[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*"""
DEEP_KEY = re.compile(rb"(?:^|[\[{,])" + PART + rb"(?:\." + PART + rb"){%d}" % MOST_DEPTH, re.M)
# Control, line and paragraph separators, lone surrogates.
HARMFUL = {"Cc", "Zl", "Zp", "Cs"}


def read_table(path: Path) -> dict[str, Any]:
    """The table in a TOML file.

    Raises:
        UsageError: one line with the file, the key and what is allowed.
    """
    try:
        if path.exists() and not path.is_file():
            raise UsageError(f"{path}: not a file")
        with path.open("rb") as stream:
            data = stream.read(MOST_BYTES + 1)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from error
    return parse(data, str(path))


def parse(data: bytes, origin: str) -> dict[str, Any]:
    """The table that TOML stands for; UsageError as read_table(), origin for the file."""
    if len(data) > MOST_BYTES:
        raise UsageError(f"{origin}: larger than {MOST_BYTES} bytes")
    if DEEP_KEY.search(data):
        raise UsageError(f"{origin}: nested deeper than {MOST_DEPTH} tables or lists")
    try:
        table = tomllib.loads(data.decode("utf-8"))
    except ValueError as error:  # tomllib's own is one, and so is that of int() of many digits
        raise UsageError(f"{origin}: not TOML: {error}") from error
    except RecursionError as error:
        raise UsageError(f"{origin}: nested deeper than {MOST_DEPTH} tables or lists") from error
    check_values(table, origin, (), MOST_DEPTH)
    return table


def check_values(value: object, origin: str, keys: tuple[str, ...], depth: int) -> None:
    """UsageError for a value, or one in it, that is not as above."""
    if depth == 0:
        raise UsageError(f"{origin}: nested deeper than {MOST_DEPTH} tables or lists")
    place = f"{origin}: {'.'.join(keys)}"
    if isinstance(value, dict):
        for key, below in value.items():
            check_values(key, origin, (*keys, key), depth)
            check_values(below, origin, (*keys, key), depth - 1)
    elif isinstance(value, list):
        for below in value:
            check_values(below, origin, keys, depth - 1)
    elif isinstance(value, str):
        if any(unicodedata.category(letter) in HARMFUL for letter in value):
            raise UsageError(f"{place}: {value!r}: a text of one line, no control characters")
    elif isinstance(value, float) and not math.isfinite(value):
        raise UsageError(f"{place} = {value}: a finite number")
    elif isinstance(value, int) and not -(1 << 63) <= value < 1 << 63:
        raise UsageError(f"{place}: a number of at most 64 bits")
