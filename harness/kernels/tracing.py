# SPDX-License-Identifier: GPL-2.0-only
"""What a source needs so that a kernel with events is built of it."""

from __future__ import annotations

import re

from harness.kernels.series import Amended
from harness.kernels.trees import PLAIN, File, Tree, blob

OPTION = "CONFIG_FTRACE=y"
MAKEFILE, EVENTS = "drivers/pci/Makefile", "drivers/pci/trace.c"
BUILDS_EVENTS = re.compile(rb"^obj-\$\(CONFIG_TRACING\)\s*\+=\s*trace\.o\n", re.MULTILINE)


def fitted(tree: Tree) -> Tree:
    """The tree, without the events of PCI where the lab's source has only their Makefile.

    Linux 7 builds these events into each kernel that has events, also without PCI.
    """
    if MAKEFILE not in tree.files or EVENTS in tree.files:
        return tree
    [(_, before)] = tree.read([MAKEFILE])
    after = BUILDS_EVENTS.sub(b"", before)
    if after == before:
        return tree
    files = {**tree.files, MAKEFILE: File(PLAIN, blob(after))}
    return Amended(tree, files, {MAKEFILE: after})
