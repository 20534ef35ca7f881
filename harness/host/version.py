# SPDX-License-Identifier: GPL-2.0-only
"""The version of cellbed; pyproject.toml says it, and nothing else."""

from __future__ import annotations

import tomllib

from harness.host.paths import PROJECT


def version() -> str:
    """As 0.1.0; every record has it."""
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return str(project["version"])
