# SPDX-License-Identifier: GPL-2.0-only
"""System calls that Python has no function for, as x86-64 numbers them; OSError when one fails."""

from __future__ import annotations

import ctypes
import os

SIGKILL, SIGTERM, SIGCHLD = 9, 15, 17

AT_FDCWD = -100
AT_EMPTY_PATH = 0x1000
AT_RECURSIVE = 0x8000
RESOLVE_NO_SYMLINKS = 4

MOUNT = 165
UMOUNT2 = 166
PIVOT_ROOT = 155
CLONE = 56
CAPSET = 126
PRCTL = 157
SECCOMP = 317
OPEN_TREE = 428
MOVE_MOUNT = 429
CLOSE_RANGE = 436
OPENAT2 = 437
MOUNT_SETATTR = 442

# Python's lock stays taken during a call: after a clone the child goes on as Python does.
_call = ctypes.PyDLL(None, use_errno=True).syscall
_call.restype = ctypes.c_long


def syscall(number: int, *arguments: int | bytes | ctypes.Structure) -> int:
    """Call the kernel. A structure is given by its address."""
    result: int = _call(ctypes.c_long(number), *map(_word, arguments))
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return result


def _word(argument: int | bytes | ctypes.Structure) -> object:
    if isinstance(argument, int):
        return ctypes.c_long(argument)
    return ctypes.byref(argument) if isinstance(argument, ctypes.Structure) else argument


class OpenHow(ctypes.Structure):
    """struct open_how of openat2(2)."""

    _fields_ = tuple((name, ctypes.c_uint64) for name in ("flags", "mode", "resolve"))


class MountAttributes(ctypes.Structure):
    """struct mount_attr of mount_setattr(2)."""

    _fields_ = tuple((name, ctypes.c_uint64) for name in ("add", "remove", "propagation", "user"))


def mount(kind: str, place: str, flags: int, options: str = "") -> None:
    """Mount a file system that has no source."""
    words = (kind.encode(), os.fsencode(place), kind.encode())
    syscall(MOUNT, *words, flags, options.encode())


def open_without_links(path: str) -> int:
    """A descriptor of what is at a path, no part of which may be a symbolic link."""
    how = OpenHow(flags=os.O_PATH | os.O_CLOEXEC, resolve=RESOLVE_NO_SYMLINKS)
    return syscall(OPENAT2, AT_FDCWD, os.fsencode(path), how, ctypes.sizeof(how))


def copied_tree(path: str, attributes: int, links: bool = False) -> int:
    """The mounts at a path once more, nowhere yet and with these attributes; a descriptor.

    links: parts of the path may be symbolic links.
    """
    open_tree_clone, close_on_exec = 1, os.O_CLOEXEC
    flags = open_tree_clone | close_on_exec | AT_RECURSIVE
    if links:
        tree = syscall(OPEN_TREE, AT_FDCWD, os.fsencode(path), flags)
    else:
        there = open_without_links(path)
        try:
            tree = syscall(OPEN_TREE, there, b"", flags | AT_EMPTY_PATH)
        finally:
            os.close(there)
    wanted = MountAttributes(add=attributes)
    size = ctypes.sizeof(wanted)
    syscall(MOUNT_SETATTR, tree, b"", AT_EMPTY_PATH | AT_RECURSIVE, wanted, size)
    return tree


def attach(tree: int, place: str) -> None:
    """Put what copied_tree() gave at a place, a folder or a file that is there."""
    empty_from = 0x4
    syscall(MOVE_MOUNT, tree, b"", AT_FDCWD, os.fsencode(place), empty_from)
    os.close(tree)


def prctl(option: int, *arguments: int) -> None:
    """Process control."""
    syscall(PRCTL, option, *arguments, *([0] * (4 - len(arguments))))
