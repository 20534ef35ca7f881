# SPDX-License-Identifier: GPL-2.0-only
"""Levels of factors in words, where a factor is a key of the experiment.

`queue.buffer_cells` 250 is "buffer 250 cells", and `queue.policy` plain is "plain". Where two
factors would have the same word, both keep their keys. Any other factor keeps its name.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from analysis.records import level_text

UNITS = {
    "_bit_per_s": "bit/s", "_ns": "ns", "_us": "us", "_ms": "ms", "_s": "s", "_mib": "MiB",
    "_cells": "cells", "_bytes": "bytes", "_packets": "packets", "_segments": "segments",
    "_percent": "%",
}  # fmt: skip
"""The unit at the end of a key, and how a reader sees it."""
NAMES_OF_RULES = {"policy", "flavor"}
"""Keys of which a level needs no further word."""


def trial(of: Mapping[str, object], seed: object) -> str:
    """A trial by its levels of all factors and its seed."""
    return ", ".join(filter(None, (levels(of), f"seed {seed}")))


def level(factor: str, text: str, factors: Collection[str]) -> str:
    """A level of one of several factors."""
    word, unit = word_and_unit(factor, factors)
    return " ".join(part for part in (word, text, unit) if part)


def change(factor: str, new: str, old: str, factors: Collection[str]) -> str:
    """One level in place of another."""
    return level(factor, f"{new} instead of {old}", factors)


def levels(some: Mapping[str, object]) -> str:
    """Levels of all factors, with commas between them."""
    return ", ".join(level(name, level_text(one), some) for name, one in some.items())


def heading(factor: str, factors: Collection[str]) -> str:
    """A key as the heading of a column: `queue.buffer_cells` is Buffer (cells)."""
    word, unit = word_and_unit(factor, factors)
    if word == factor:
        return factor
    word = word or factor.rpartition(".")[2]
    return f"{word[:1].upper()}{word[1:]}{f' ({unit})' if unit else ''}"


def word_and_unit(factor: str, factors: Collection[str]) -> tuple[str, str]:
    """The word before a level and the unit after it, either may be empty."""
    own = short(factor)
    return (factor, "") if sum(short(one) == own for one in factors) > 1 else own


def short(factor: str) -> tuple[str, str]:
    """The same, whatever the other factors are."""
    table, dot, _ = factor.partition(".")
    if not dot:
        return factor, ""
    key = factor.rpartition(".")[2]
    if key == "kind":
        return table, ""
    if key in NAMES_OF_RULES:
        return "", ""
    for suffix, unit in UNITS.items():
        if key.endswith(suffix):
            return key.removesuffix(suffix).replace("_", " "), unit
    return key.replace("_", " "), ""
