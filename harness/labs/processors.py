# SPDX-License-Identifier: GPL-2.0-only
"""Which lab runs where: the kinds of processor, and the lab that each has."""

from __future__ import annotations

import platform

from plan.errors import UsageError

X86_64, ARM64 = "x86-64", "arm64"
NAMES = (X86_64, ARM64)
OF_ARM64 = "vm-arm64"
# As `uname -m` and its like say it on Linux and elsewhere.
MACHINES = {"aarch64": ARM64, "arm64": ARM64}


def here() -> str:
    """This machine's processor."""
    return MACHINES.get(platform.machine(), X86_64)


def lab(name: str | None, arch: str | None) -> str:
    """The lab that --lab and --arch ask for; None is this machine's default.

    Raises:
        UsageError: there is no such lab.
    """
    if name == OF_ARM64 and arch == X86_64:
        raise UsageError(f"--lab {name} --arch {arch}: this lab has an ARM64 processor")
    if (arch or here()) == X86_64:
        return name or "uml"
    if name in (None, "vm", OF_ARM64):
        return OF_ARM64
    raise UsageError(f"--lab {name}: this lab runs only on x86-64; take --lab vm for {ARM64}")
