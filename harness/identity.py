# SPDX-License-Identifier: GPL-2.0-only
"""Identity of what runs a trial: the code in the lab, its programs, kernel and image."""

from __future__ import annotations

import hashlib
import os
from functools import cache
from typing import Any

from harness import paths

LAB_CODE = ("harness/agent", "topology", "workload")
HOST_CODE = ("harness", "analysis")


def code(lab: str = "uml") -> str:
    """A hash over all that can change what a trial does in a lab (16 hex digits)."""
    digest = hashlib.sha256()
    for folder in LAB_CODE:
        add_code(digest, folder)
    for product in ("image", "vm" if lab == "vm" else "kernel", "programs"):
        digest.update(paths.places()[product].name.encode())
    if lab == "native":
        digest.update(os.uname().release.encode())
    return digest.hexdigest()[:16]


def software(lab: str) -> dict[str, str]:
    """What runs a trial, as its record says it."""
    return {"code": code(lab)}


def add_code(digest: Any, folder: str) -> None:
    """Names and contents of a folder's Python files."""
    for path in sorted((paths.PROJECT / folder).rglob("*.py")):
        digest.update(str(path.relative_to(paths.PROJECT)).encode())
        digest.update(path.read_bytes())


@cache
def checkout(lab: str) -> str:
    """A hash over all that makes a record: code(), and the code that judges and writes it.

    Remembered as of the first call, since the code of a process is what it was then.
    """
    digest = hashlib.sha256(code(lab).encode())
    for folder in HOST_CODE:
        add_code(digest, folder)
    return digest.hexdigest()[:16]
