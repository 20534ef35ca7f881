# SPDX-License-Identifier: GPL-2.0-only
"""Does a command work in a folder of results now? Its lock tells (harness/campaign/lock.py)."""

import fcntl
import os
from pathlib import Path

LOCK = "campaign.lock"
UNKNOWN = "a process"


def holder(folder: Path) -> str:
    """Who works in the folder, as "process 7 on HOST"; "" where nobody does, or nobody can tell.

    The lock is taken for a moment, shared: whoever wants it for work tries again (LOCK_TRIES).
    """
    try:
        descriptor = os.open(folder / LOCK, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        said = os.pread(descriptor, 200, 0).decode(errors="replace").strip()
        return said if said.isprintable() and said else UNKNOWN
    except OSError:
        return ""
    finally:
        os.close(descriptor)
    return ""
