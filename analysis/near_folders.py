# SPDX-License-Identifier: GPL-2.0-only
"""Which folder of results a person most likely meant who named a folder that does not exist."""

from __future__ import annotations

import difflib
import shlex
from collections.abc import Iterator
from pathlib import Path

RESULTS = Path("results")
"""Where ./cellbed run makes its folders, as seen from the working folder."""


def hint(missing: Path, header: str) -> str:
    """The folder with the name most like it, or else the newest; "" where there is none.

    header: the file that each folder of results has.
    """
    for place in (missing.parent, RESULTS):
        names = [folder.name for folder in campaigns(place, header)]
        if like := difflib.get_close_matches(missing.name, names, n=1):
            return f"; did you mean {shlex.quote(str(place / like[0]))}?"
    there = sorted(campaigns(RESULTS, header), key=lambda folder: (folder / header).stat().st_mtime)
    return f", for example {shlex.quote(str(there[-1]))}" if there else ""


def campaigns(place: Path, header: str) -> Iterator[Path]:
    """The folders of results in a folder, by their names."""
    yield from sorted(path.parent for path in place.glob(f"*/{header}") if path.is_file())
