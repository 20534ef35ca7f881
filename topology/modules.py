# SPDX-License-Identifier: GPL-2.0-only
"""Inserts kernel modules that set-up made, without a process for each."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

BUILT = Path("/opt/cellbed")


class ModuleError(RuntimeError):
    """The kernel did not take a module; the text says which and why."""


def is_ours(name: str) -> bool:
    """Whether set-up made this module for the lab's kernel."""
    return (BUILT / f"{name}.ko").exists()


def load(name: str, needed_by: str) -> None:
    """Insert a module that set-up made, unless the kernel has it.

    Raises:
        ModuleError: this lab has no such module, or the kernel refused it.
    """
    if Path("/sys/module", name).exists():
        return
    if not is_ours(name):
        raise ModuleError(
            f"this lab has no module {name}, which {needed_by} needs; only the lab uml with"
            " set-up's kernel has it"
        )
    insert(name)


def insert(name: str, parameters: str = "") -> None:
    """Insert a module that set-up made.

    Args:
        parameters: NAME=VALUE, with blanks between them.

    Raises:
        ModuleError: the kernel refused it.
    """
    path = BUILT / f"{name}.ko"
    content = path.read_bytes()
    library = ctypes.CDLL(None, use_errno=True)
    if library.init_module(content, ctypes.c_ulong(len(content)), parameters.encode()):
        words = os.strerror(ctypes.get_errno())
        raise ModuleError(f"the kernel did not take the module {path}: {words}")
