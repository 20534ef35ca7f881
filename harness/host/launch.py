# SPDX-License-Identifier: GPL-2.0-only
"""The command `cellbed` of an installation by pip: the project's own, in the project's folder."""

from __future__ import annotations

import os
import sys

from harness.host.paths import PROJECT


def main() -> None:
    """Become ./cellbed, which finds or makes its environment."""
    command = str(PROJECT / "cellbed")
    os.execv(command, [command, *sys.argv[1:]])
