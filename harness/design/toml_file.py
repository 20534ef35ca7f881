# SPDX-License-Identifier: GPL-2.0-only
"""Reads a TOML file that a person wrote: what comes back has no value that could do harm.

Texts have no control characters (they become file names, arguments of programs, fields of
tables), numbers are finite and fit in 64 bits. An error names the file and the line, and its note
shows the line.
"""

from __future__ import annotations

import codecs
import math
import os
import re
import tomllib
import unicodedata
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from harness.design.positions import positions
from harness.design.syntax import explain
from plan.errors import UsageError
from plan.near import nearest

MOST_BYTES = 1 << 20
MOST_DEPTH = 16
# tomllib copies a key's beginning for each of its parts: one of a megabyte takes it hours.
PART = rb"""[ \t]*(?:[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*"""
DEEP_KEY = re.compile(rb"(?:^|[\[{,])" + PART + rb"(?:\." + PART + rb"){%d}" % MOST_DEPTH, re.M)
# Control, line and paragraph separators, lone surrogates.
HARMFUL = {"Cc", "Zl", "Zp", "Cs"}
MOST_SHOWN = 150  # letters of a line that an error shows
TOO_DEEP = f"tables and lists are nested deeper than {MOST_DEPTH}"
AT_MOST_64_BITS = "has at most 64 bits"
LONG_NUMBER = re.compile(r"\d{1000}")


@dataclass(frozen=True)
class TomlFile:
    """A file and the table in it.

    Attributes:
        origin: its name in errors.
    """

    origin: str
    text: str
    table: dict[str, Any]

    @cached_property
    def positions(self) -> dict[str, int]:
        """Each key with its line (harness/design/positions.py)."""
        return positions(self.text)

    def mistake(self, line: int | None, sentence: str) -> UsageError:
        """The error for a mistake in a line of it; None: it is in no line."""
        return mistake(self.origin, self.text, line, sentence)


def mistake(origin: str, text: str, line: int | None, sentence: str) -> UsageError:
    """An error of one line that names file and line; the line itself is its note."""
    if line is None:
        return UsageError(f"{origin}: {sentence}")
    error = UsageError(f"{origin}, line {line}: {sentence}")
    shown = text.split("\n")[line - 1].rstrip(" \t\r").expandtabs(4)
    cut = shown if len(shown) <= MOST_SHOWN else f"{shown[:MOST_SHOWN]} ..."
    error.add_note(f"{line:>5} | {cut}")
    return error


def read_table(path: Path) -> dict[str, Any]:
    """The table in a TOML file; UsageError as read_file()."""
    return read_file(path).table


def read_file(path: Path) -> TomlFile:
    """A TOML file with its table.

    Raises:
        UsageError: one line with the file, its line, the key and what is allowed.
    """
    try:
        if path.is_dir():
            raise UsageError(f"{path} is a folder; name a file of TOML, such as an experiment")
        if path.exists() and not path.is_file():
            raise UsageError(f"{path} is not a regular file; name a file of TOML")
        with path.open("rb") as stream:
            data = stream.read(MOST_BYTES + 1)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}{meant(path)}") from error
    return parse(data, str(path))


def meant(path: Path) -> str:
    """The file that was most likely meant by the name of none; "" where no other is like it."""
    if os.path.lexists(path):
        return ""
    with suppress(OSError):
        names = [one.name for one in path.parent.glob("*.toml") if one.is_file()]
        found = nearest(path.with_suffix(".toml").name, names)
        return f"; did you mean {path.with_name(found)}?" if found else ""
    return ""


def parse(data: bytes, origin: str) -> TomlFile:
    """A text as a TOML file; UsageError as read_file(), origin for the file."""
    if len(data) > MOST_BYTES:
        raise UsageError(f"{origin}: the file is larger than {MOST_BYTES} bytes")
    if DEEP_KEY.search(data):
        raise UsageError(f"{origin}: {TOO_DEEP}")
    text = decoded(data, origin)
    if not text.strip():
        raise UsageError(f"{origin}: the file is empty")
    try:
        file = TomlFile(origin, text, tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise mistake(origin, text, *explain(text, str(error))) from error
    except ValueError as error:  # that of int() of many digits
        found = LONG_NUMBER.search(text)
        line = text.count("\n", 0, found.start()) + 1 if found else None
        raise mistake(origin, text, line, f"a number {AT_MOST_64_BITS}") from error
    except RecursionError as error:
        raise UsageError(f"{origin}: {TOO_DEEP}") from error
    check_values(file, file.table, (), MOST_DEPTH)
    return file


def decoded(data: bytes, origin: str) -> str:
    """The text of a file in UTF-8, with or without the mark that Windows puts before it."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise UsageError(f"{origin}: the file is in UTF-16: save it as UTF-8")
    try:
        return data.removeprefix(codecs.BOM_UTF8).decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        text = data.decode("utf-8", "replace")
        sentence = "a letter in this line is not in UTF-8: save the file as UTF-8"
        raise mistake(origin, text, line, sentence) from error


def check_values(file: TomlFile, value: object, keys: tuple[str | int, ...], depth: int) -> None:
    """UsageError for a value, or one in it, that is not as above.

    keys: its place; those of lists are numbers.
    """

    def refuse(sentence: str) -> UsageError:
        line = file.positions.get(".".join(map(str, keys)))
        place = ".".join(key for key in keys if isinstance(key, str))
        if keys[0] in ("rule", "only") and len(keys) > 1 and isinstance(keys[1], int):
            place = f"{keys[0]} {keys[1] + 1}: {place.partition('.')[2]}"
        return file.mistake(line, f"{place}{sentence}")

    if depth == 0:
        raise UsageError(f"{file.origin}: {TOO_DEEP}")
    if isinstance(value, dict):
        for key, below in value.items():
            check_values(file, key, (*keys, key), depth)
            check_values(file, below, (*keys, key), depth - 1)
    elif isinstance(value, list):
        for number, below in enumerate(value):
            check_values(file, below, (*keys, number), depth - 1)
    elif isinstance(value, str):
        if any(unicodedata.category(letter) in HARMFUL for letter in value):
            raise refuse(f": {value!r}: a text has one line, no tabs, no control characters")
    elif isinstance(value, float) and not math.isfinite(value):
        raise refuse(f" = {value}: must be a finite number")
    elif isinstance(value, int) and not -(1 << 63) <= value < 1 << 63:
        raise refuse(f": a number {AT_MOST_64_BITS}")
