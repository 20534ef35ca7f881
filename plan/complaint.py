# SPDX-License-Identifier: GPL-2.0-only
"""What a kernel says in its log when it finds a fault of its own. Standard library only."""

from __future__ import annotations

from collections.abc import Sequence

# Warnings, lockdep's and RCU's too, oopses, panics, and reports of the sanitizers.
KERNEL_SAYS = ("WARNING:", "BUG:", "Kernel panic", "Oops", "UBSAN:", "KASAN:",
               "INFO: rcu", "INFO: task", "INFO: trying", "INFO: possible")  # fmt: skip


def first_complaint(lines: Sequence[str]) -> Sequence[str]:
    """The log from the first line on with which the kernel complains; nothing where it does not."""
    at = [i for i, line in enumerate(lines) if any(word in line for word in KERNEL_SAYS)]
    return lines[at[0] :] if at else []
