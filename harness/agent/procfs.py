# SPDX-License-Identifier: GPL-2.0-only
"""Files of /proc with as few system calls as can be: in some labs each is dear."""

from __future__ import annotations

import os
from pathlib import Path

MOST_BYTES = 1 << 16


def text(path: Path | str) -> str:
    """What a file says, of at most MOST_BYTES: three calls, where Path.read_text() makes eight."""
    file = os.open(path, os.O_RDONLY)
    try:
        return os.read(file, MOST_BYTES).decode()
    finally:
        os.close(file)
