# SPDX-License-Identifier: GPL-2.0-only
"""What a command says of an archive that it wrote, and where it may write one."""

from __future__ import annotations

import hashlib
from pathlib import Path

from plan.errors import UsageError


def folder(out: Path) -> Path:
    """The folder of --out, made if it is not there; UsageError if it is something else."""
    if out.exists() and not out.is_dir():
        raise UsageError(f"--out {out} is not a folder")
    out.mkdir(parents=True, exist_ok=True)
    return out.resolve()


def described(archive: Path) -> str:
    """Its name, size and checksum."""
    with archive.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    return f"{archive}: {archive.stat().st_size / 1e6:.0f} MB, SHA-256 {digest}"
