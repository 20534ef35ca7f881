# SPDX-License-Identifier: GPL-2.0-only
"""Which files are read at all: standard library only."""

import errno
import os
import stat
from pathlib import Path


def regular(path: Path) -> Path:
    """The same path when it leads to a file; reading a FIFO or a device might never end.

    Raises OSError, with the path, for anything else.
    """
    mode = path.stat().st_mode
    if stat.S_ISDIR(mode):
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "it is not a file", str(path))
    return path
