# SPDX-License-Identifier: GPL-2.0-only
"""Has gcc warn of what it warned of before GCC 14, which refuses it. In the lab.

A program in C that calls a function without declaring it is an example. Many scripts compile such
programs, and Debian 12 and Ubuntu 22.04 have a gcc that only warns.
"""

from __future__ import annotations

from pathlib import Path

REAL = Path("/usr/bin")
BEFORE = Path("/usr/local/bin")  # which PATH has first
NAMES = ("gcc", "cc")
WRAPPER = '#!/bin/sh\n# SPDX-License-Identifier: GPL-2.0-only\nexec {} -fpermissive "$@"\n'


def install(real: Path = REAL, before: Path = BEFORE) -> None:
    """Where the image has gcc (--package).

    Args:
        real: the folder with gcc.
        before: a folder that a shell searches first.
    """
    for name in NAMES:
        if (real / name).exists():
            wrapper = before / name
            wrapper.write_text(WRAPPER.format(real / name))
            wrapper.chmod(0o755)
