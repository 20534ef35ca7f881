# SPDX-License-Identifier: GPL-2.0-only
"""What root writes for somebody who called sudo is his: else his next run could not go on."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def of_the_caller(folder: Path) -> Iterator[None]:
    """Hand a folder, and the new ones above it, to the caller of sudo when the `with` ends."""
    above = [path for path in folder.absolute().parents if not path.exists()]
    try:
        yield
    finally:
        if os.geteuid() == 0 and "SUDO_UID" in os.environ:
            uid, gid = int(os.environ["SUDO_UID"]), int(os.environ["SUDO_GID"])
            for path in (*above, folder, *folder.rglob("*")):
                if path.exists():
                    os.chown(path, uid, gid, follow_symlinks=False)
