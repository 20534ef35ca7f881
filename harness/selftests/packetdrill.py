# SPDX-License-Identifier: GPL-2.0-only
"""Finds packetdrill, which is not part of cellbed: the program itself or a folder that has it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

from plan.errors import MissingError, UsageError

NAME = "packetdrill"
# In a clone of its repository its own Makefile puts it here.
IN_CLONE = Path("gtests", "net", NAME, NAME)
GET = (
    "build packetdrill, and name its folder with --packetdrill DIR; its source is at"
    " https://github.com/google/packetdrill, and docs/guides/kernel.md says which commit"
)


def by_kernel(options: Iterable[str], kernels: Iterable[str]) -> dict[str, Path]:
    """The program for each kernel.

    Args:
        options: PATH for all kernels, or KERNEL=PATH for one.

    Raises:
        UsageError: there is no such program, or no such kernel.
        MissingError: none is named, and none is in the PATH.
    """
    asked = list(kernels)
    named: dict[str, Path] = {}
    for option in options:
        kernel, path = parted(option, asked)
        if kernel in named:
            of = f"kernel {kernel}" if kernel else "all kernels"
            raise UsageError(f"--packetdrill {option}: {of} has another one; name one only")
        named[kernel] = program(option, Path(os.path.expanduser(path)))  # no shell did, behind =
    found = {kernel: named.get(kernel, named.get("")) for kernel in asked}
    if all(found.values()):
        return {kernel: path for kernel, path in found.items() if path is not None}
    installed = shutil.which(NAME)
    if installed is None:
        raise MissingError(f"packetdrill is missing; {GET}")
    return {kernel: path or Path(installed).resolve() for kernel, path in found.items()}


def parted(option: str, asked: Sequence[str]) -> tuple[str, str]:
    """Kernel, empty for all, and path; both may have an equals sign in them. UsageError."""
    kernel = max((x for x in asked if option.startswith(f"{x}=")), key=len, default="")
    if kernel:
        return kernel, option[len(kernel) + 1 :]
    if "=" in option and not Path(os.path.expanduser(option)).exists():
        wrong = option.rpartition("=")[0]
        raise UsageError(
            f"--packetdrill {option}: {wrong} is no kernel of --kernel {','.join(asked)}"
        )
    return "", option


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
