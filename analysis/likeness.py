# SPDX-License-Identifier: GPL-2.0-only
"""Which trials are of one cell of one experiment: the same in all but seed and captures."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

DIGITS = 16
FREE = ("seed", "record")  # what trials of one cell may differ in
MOST_NAMED = 3

Document = Mapping[str, Any]


def essence(document: Document) -> dict[str, Any]:
    """Of a trial.json what made the trial's facts."""
    plan = {key: value for key, value in document["plan"].items() if key not in FREE}
    return {"plan": plan, "software": dict(document["software"])}


def cell(document: Document) -> str:
    """A hash of that."""
    text = json.dumps(essence(document), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]


def why_not(document: Document, like: Document | None, factors: Mapping[str, list[str]]) -> str:
    """Why a record does not count, by its trial.json.

    Args:
        like: one that counts, of the same levels.
        factors: the experiment's, and the levels of each, as the document has them.
    """
    if like is not None:
        one, other = essence(document), essence(like)
        found = [
            f"it ran with other {what}: {named(differing(one[part], other[part]))}"
            for part, what in (("plan", "settings"), ("software", "software"))
            if one[part] != other[part]
        ]
        return "; ".join(found) or "campaign.json does not list it"
    levels = document["factors"]
    strange = [f"{n}={x}" for n, x in levels.items() if x not in factors.get(n, [])]
    if factors and strange:
        return f"the experiment does not have {' or '.join(strange)}"
    return "it ran with other settings or software, and no trial with these levels counts"


def differing(one: object, other: object, place: str = "") -> Iterator[str]:
    """Places in nested objects whose values are not the same."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        for key in sorted(one.keys() | other.keys()):
            inner = f"{place}.{key}" if place else str(key)
            yield from differing(one.get(key), other.get(key), inner)
    elif one != other:
        yield place


def named(places: Iterator[str]) -> str:
    """Some of them in words."""
    found = list(places)
    more = len(found) - MOST_NAMED
    return ", ".join(found[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
