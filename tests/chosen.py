# SPDX-License-Identifier: GPL-2.0-only
"""The names on the command line of a program that measures several things: some, or all."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Sequence


def chosen(
    parser: argparse.ArgumentParser, given: Sequence[str], known: Collection[str], noun: str
) -> list[str]:
    """Return the given names, or all; an unknown name ends the program with a sentence."""
    unknown = [name for name in given if name not in known]
    if unknown:
        parser.error(
            f"{unknown[0]}: there is no such {noun}; the {noun}s are {', '.join(known)}"
        )
    return list(given or known)
