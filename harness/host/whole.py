# SPDX-License-Identifier: GPL-2.0-only
"""Folders that are there when they are whole, though several processes may make them at once."""

from __future__ import annotations

import fcntl
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole(place: Path) -> Iterator[Path]:
    """A folder to be filled, which then is the place, if no other was quicker.

    All that fill it share a lock, so that `./cellbed clean` takes none of these folders away.
    """
    with Path(f"{place}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_SH)
        partial = Path(tempfile.mkdtemp(prefix=f"{place.name}.", dir=place.parent))
        try:
            yield partial
            partial.chmod(0o755)
            try:
                partial.rename(place)
            except OSError:
                if not place.exists():  # made by another meanwhile
                    raise
        finally:
            shutil.rmtree(partial, ignore_errors=True)
