# SPDX-License-Identifier: GPL-2.0-only
"""Finds packetdrill, which is not part of cellbed: the program itself or a folder that has it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from plan.errors import MissingError, UsageError

NAME = "packetdrill"
# In a clone of its repository its own Makefile puts it here.
IN_CLONE = Path("gtests", "net", NAME, NAME)
GET = (
    "its source and how to build it are at https://github.com/google/packetdrill; "
    "then name its folder with --packetdrill DIR"
)


def by_kernel(options: Iterable[str], kernels: Iterable[str]) -> dict[str, Path]:
    """The program for each kernel.

    Args:
        options: PATH for all kernels, or KERNEL=PATH for one.

    Raises:
        UsageError: there is no such program, or no such kernel.
        MissingError: none is named, and none is in the PATH.
    """
    asked, named = list(kernels), {}
    for option in options:
        kernel, equals, path = option.rpartition("=")
        if equals and kernel not in asked:
            raise UsageError(
                f"--packetdrill {option}: {kernel} is no kernel of --kernel {','.join(asked)}"
            )
        named[kernel] = program(option, Path(path))
    found = {kernel: named.get(kernel, named.get("")) for kernel in asked}
    if all(found.values()):
        return {kernel: path for kernel, path in found.items() if path is not None}
    installed = shutil.which(NAME)
    if installed is None:
        raise MissingError(f"packetdrill is missing; {GET}")
    return {kernel: path or Path(installed).resolve() for kernel, path in found.items()}


def program(option: str, path: Path) -> Path:
    """The program that a path names; UsageError."""
    if not path.exists():
        raise UsageError(f"--packetdrill {option}: {path} does not exist; {GET}")
    places = [path / IN_CLONE, path / NAME] if path.is_dir() else [path]
    for place in places:
        if place.is_file() and os.access(place, os.X_OK):
            return place.resolve()
    what = (
        "no built program packetdrill is in this folder" if path.is_dir() else "this is no program"
    )
    raise UsageError(f"--packetdrill {option}: {what}; {GET}")
