# SPDX-License-Identifier: GPL-2.0-only
"""Finds the known word that a user most likely meant. Standard library only."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def nearest(word: object, known: Iterable[object]) -> str | None:
    """Return the known word most similar to `word`, or None. Case, - and _ make no difference."""
    if not isinstance(word, str):
        return None
    by_form = {form(one): str(one) for one in known}
    found = difflib.get_close_matches(form(word), by_form, n=1, cutoff=0.65)
    if not found:  # rate, for rate_bit_per_s: a key without its unit
        found = [one for one in by_form if one.startswith(f"{form(word)}_")]
    if not found:  # red, for adaptive-red; of this and adaptive-red-ns2 the first
        found = sorted((one for one in by_form if form(word) in one.split("_")), key=len)
        if not all(one.startswith(found[0]) for one in found):
            return None
        found = found[:1]
    return by_form[found[0]] if len(found) == 1 else None


def form(word: object) -> str:
    return str(word).casefold().replace("-", "_").replace(" ", "_")[:100]


def choices(word: object, known: Iterable[object]) -> str:
    """Return the end of an error message: the known words, and the one most likely meant."""
    words = [str(one) for one in known]
    meant = nearest(word, words)
    if not words:
        return "there are none"
    if len(words) == 1:
        return f"it must be {words[0]}"
    said = f"it must be one of {', '.join(words)}"
    return f"{said}; did you mean {meant}?" if meant else said
