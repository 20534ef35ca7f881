# SPDX-License-Identifier: GPL-2.0-only
"""Sets sysctls of the present network namespace, and reads each of them back.

Where system calls are dear, the lab has a module that does this for many sysctls at once
(topology/sysctls). Elsewhere each sysctl takes an open, a write and a read. Standard library only.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from harness.agent.procfs import SYSCTL_BYTES, close
from topology import modules

ROOT = Path("/proc/sys/net/ipv4")
MODULE = "cellbed_sysctls"
AT_ONCE = Path("/proc", MODULE)
ANSWER_BYTES = 8192
MISSING, REFUSED = "?", "!"


class MissingError(RuntimeError):
    """The kernel has no sysctl of this name; nothing has been written."""

    def __init__(self, name: str) -> None:
        super().__init__(f"this kernel has no sysctl {name}")
        self.name = name


class RefusedError(RuntimeError):
    """The kernel took a value of a sysctl for a wrong one."""

    def __init__(self, name: str, error: int) -> None:
        super().__init__(f"the kernel refused a value of {name}: {os.strerror(error)}")
        self.name, self.strerror = name, os.strerror(error)


class _AtOnce:
    """The file of the module, once prepare() has opened it."""

    file: int | None = None


def prepare() -> None:
    """From now on, set many sysctls at once, if set-up made the module for this kernel."""
    if _AtOnce.file is not None or not modules.is_ours(MODULE):
        return
    if not AT_ONCE.exists():
        modules.insert(MODULE)
    _AtOnce.file = os.open(AT_ONCE, os.O_RDWR)


def put(wanted: Mapping[str, str], root: Path = ROOT) -> dict[str, str]:
    """Write values into files below a folder; return what each file says after that, in words.

    Raises:
        MissingError: a file does not exist. Nothing has been written.
        RefusedError: the kernel refused a value.
    """
    if _AtOnce.file is None or root != ROOT or any("\n" in value for value in wanted.values()):
        return put_each(wanted, root)
    return put_at_once(_AtOnce.file, wanted)


def put_each(wanted: Mapping[str, str], root: Path = ROOT) -> dict[str, str]:
    """Do the same as put(), with three system calls a file."""
    files: dict[str, int] = {}
    try:
        _open(wanted, root, files)
        return {name: _put(file, name, wanted[name]) for name, file in files.items()}
    finally:
        close([*files.values()])


def _open(wanted: Mapping[str, str], root: Path, files: dict[str, int]) -> None:
    """Open each file, into `files`: opening all first finds what is missing."""
    folder = os.open(root, os.O_PATH)
    try:
        for name in wanted:
            files[name] = os.open(name, os.O_RDWR, dir_fd=folder)
    except FileNotFoundError:
        raise MissingError(name) from None
    finally:
        os.close(folder)


def _put(file: int, name: str, value: str) -> str:
    try:
        os.pwrite(file, value.encode(), 0)
        return " ".join(os.pread(file, SYSCTL_BYTES, 0).decode().split())
    except OSError as error:
        raise RefusedError(name, error.errno or 0) from None


def put_at_once(file: int, wanted: Mapping[str, str]) -> dict[str, str]:
    """Do the same as put(), with two system calls on the module's file."""
    if not wanted:
        return {}
    os.pwrite(file, "".join(f"{name} {wanted[name]}\n" for name in wanted).encode(), 0)
    return answered(os.pread(file, ANSWER_BYTES, 0).decode())


def answered(text: str) -> dict[str, str]:
    """The values in an answer of the module (topology/sysctls/cellbed_sysctls.c)."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        name, _, value = line.partition(" ")
        if value.startswith(MISSING):
            raise MissingError(name)
        if value.startswith(REFUSED):
            raise RefusedError(name, int(value[1:]))
        found[name] = " ".join(value.split())
    return found
