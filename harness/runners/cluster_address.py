# SPDX-License-Identifier: GPL-2.0-only
"""Where a cluster is, as the command line is told; nothing slow to import."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """A cluster that somebody runs.

    Attributes:
        address: tls://HOST:PORT, or tcp://HOST:PORT of one that takes anybody.
        secret: the file that lets one in; None: where ./cellbed scheduler puts it.
    """

    address: str
    secret: Path | None = None
