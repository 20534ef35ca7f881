# SPDX-License-Identifier: GPL-2.0-only
"""The precompiled headers of a folder in which kernels are built, and the options in them.

The headers have all options of the kernel for which they were compiled (lab/kernel/cc). make
compiles them anew if an option changes that a header asks for. It does not know that a C file takes
its options from them, too. So with other options they must go, and with them all that was compiled.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from harness.host import paths

COMPILED = ("headers", "build/init/precompiled.o")
NOTE = "options"
CONFIG = ("lab/kernel/config", "lab/kernel/config-newer")


def renew(work: Path, recipe: Path, options: Sequence[str]) -> bool:
    """Remove the headers unless they were compiled for these options; return whether they went.

    work: the folder of the builds. recipe: where lab/kernel/config of the build is. options: what
    the build has besides. The note is written before the build, because a build that is killed may
    have compiled the headers already.
    """
    told = "\n".join([paths.content(*(recipe / name for name in CONFIG)), *sorted(options)])
    note = work / NOTE
    if note.exists() and note.read_text() == told:
        return False
    note.unlink(missing_ok=True)
    headers, compiled = (work / name for name in COMPILED)
    compiled.unlink(missing_ok=True)
    if headers.exists():
        shutil.rmtree(headers)
    note.write_text(told)
    return True
