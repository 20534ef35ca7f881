# SPDX-License-Identifier: GPL-2.0-only
"""Runs a command that finds a folder read-only, as a cache is that a classroom shares."""

from __future__ import annotations

import os
from pathlib import Path

NAMESPACE = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"])]
READ_ONLY = 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && shift && exec "$@"'


def read_only(folder: Path) -> list[str]:
    """What stands before the command."""
    return [*NAMESPACE, "sh", "-c", READ_ONLY, "-", str(folder)]
