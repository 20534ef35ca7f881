# SPDX-License-Identifier: GPL-2.0-only
"""What a trial may ask of a lab whose kernel is not set-up's (vm, native), and what it has."""

from __future__ import annotations

import shutil
from pathlib import Path

from plan.errors import UsageError
from plan.plan import QUEUES, Plan

OWN = "uml"  # has the patched kernel, and the modules that set-up builds for it
# Modules that a lab with another kernel would take for its own.
FOREIGN = shutil.ignore_patterns("tcp_*.ko", "cellbed_sysctls.ko", "cellbed_room.ko")


def copy_programs(programs: Path, folder: Path) -> None:
    """Copy the lab's programs into a new folder, without modules of the lab uml's kernel."""
    shutil.copytree(programs, folder, ignore=FOREIGN)


def refuse(lab: str, plan: Plan) -> None:
    """UsageError where the queue under test needs more than a stock kernel has."""
    if lab == OWN:
        return
    queue = plan.queue.down
    if queue.module is not None:
        raise UsageError(
            f"queue.kind = {QUEUES.name_of(queue)}: only the lab {OWN} has the module"
            f" {queue.module}; leave out --lab"
        )
    if queue.patched is not None:
        raise UsageError(
            f"{queue.patched}: only the patched kernel of the lab {OWN} has this rule;"
            " leave out --lab"
        )
