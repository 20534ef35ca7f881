# SPDX-License-Identifier: GPL-2.0-only
"""What belongs to one student: a seed from the name, and what is drawn with it.

Two students have other paths and other answers; the same name has the same, whenever and
wherever it is asked for.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from plan.schema import Within
from workload.streams import stream

FIRST, MOST = 1_000, 1_000_000  # a person's seed is none of the small ones that all others use


@dataclass(frozen=True, kw_only=True)
class Draw:
    """A whole number from least to most, by step."""

    least: int
    most: int
    step: Annotated[int, Within(1)] = 1


def seed_of(name: str) -> int:
    """The seed of a name, whatever its case and blanks."""
    text = " ".join(name.casefold().split())
    return FIRST + int(hashlib.sha256(text.encode()).hexdigest(), 16) % (MOST - FIRST)


def drawn(draws: Mapping[str, Draw], lab: str, seed: int) -> dict[str, int]:
    """A value for each key, by its name: another lab, or one more key, shifts none."""
    return {
        key: draw.least
        + draw.step
        * int(stream(seed, lab, key).random() * ((draw.most - draw.least) // draw.step + 1))
        for key, draw in draws.items()
    }


def tables(values: Mapping[str, Any]) -> dict[str, Any]:
    """Dotted keys as nested tables."""
    found: dict[str, Any] = {}
    for key, value in values.items():
        *above, last = key.split(".")
        table = found
        for part in above:
            table = table.setdefault(part, {})
        table[last] = value
    return found
