# SPDX-License-Identifier: GPL-2.0-only
"""Finds the messages in a kernel's log that report a fault of the kernel. Standard library only."""

from __future__ import annotations

from collections.abc import Sequence

# Warnings (also of lockdep and RCU), oopses, panics, and reports of the sanitizers.
KERNEL_SAYS = ("WARNING:", "BUG:", "Kernel panic", "Oops", "UBSAN:", "KASAN:",
               "INFO: rcu", "INFO: task", "INFO: trying", "INFO: possible")  # fmt: skip


def first_complaint(lines: Sequence[str]) -> Sequence[str]:
    """Return the log from the kernel's first complaint on; [] if there is no complaint."""
    at = [i for i, line in enumerate(lines) if any(word in line for word in KERNEL_SAYS)]
    return lines[at[0] :] if at else []
