# SPDX-License-Identifier: GPL-2.0-only
"""Removes the folder of a lab whose owner was killed."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

from harness.host import temporary

TRIES = 20
PAUSE_S = 0.05


def remove(place: Path) -> None:
    """Remove the temporary folder that a lab worked in; a folder of another kind stays.

    Args:
        place: the lab's own folder, or one directly below it where two labs share it.
    """
    folders = (place, place.parent)
    folder = next((one for one in folders if temporary.NAME.fullmatch(one.name)), None)
    if folder is None:
        return
    for _ in range(TRIES):  # the last processes of the lab may still write
        with suppress(OSError):
            temporary.remove(folder)
        if not folder.exists():
            return
        time.sleep(PAUSE_S)
