# SPDX-License-Identifier: GPL-2.0-only
"""Identity of what runs a trial: the code in the lab, its programs, kernel and image."""

from __future__ import annotations

import hashlib
import os

from harness import paths

LAB_CODE = ("harness/agent", "topology", "workload")


def code(lab: str = "uml") -> str:
    """A hash over all that can change what a trial does in a lab (16 hex digits)."""
    digest = hashlib.sha256()
    for folder in LAB_CODE:
        for path in sorted((paths.PROJECT / folder).rglob("*.py")):
            digest.update(str(path.relative_to(paths.PROJECT)).encode())
            digest.update(path.read_bytes())
    for product in ("image", "vm" if lab == "vm" else "kernel", "programs"):
        digest.update(paths.places()[product].name.encode())
    if lab == "native":
        digest.update(os.uname().release.encode())
    return digest.hexdigest()[:16]
