# SPDX-License-Identifier: GPL-2.0-only
"""Asks the kernel for BPF programs and maps, as bpftool does, without a process.

A process costs 20 ms under User-Mode Linux. Libbpf is in the lab, because our loader needs it.
Layouts and numbers are those of linux/bpf.h.
"""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

LIBRARY = "libbpf.so.1"
SCHED_CLS = 3  # BPF_PROG_TYPE_SCHED_CLS
# The first fields of struct bpf_prog_info: type, id, tag, lengths of the machine code and of BPF.
PROGRAM = struct.Struct("=II8sII")


@cache
def library() -> ctypes.CDLL:
    """Load libbpf. It is not on every host, so this module does not load it at the import."""
    return ctypes.CDLL(LIBRARY)


def checked(result: int, what: str) -> int:
    """Return what a function of libbpf returned: a descriptor or 0. OSError: it is an error."""
    if result < 0:
        raise OSError(-result, os.strerror(-result), what)
    return result


def programs() -> Iterator[tuple[int, bool]]:
    """Yield each loaded program: its type, and whether the kernel has compiled it.

    Raises:
        OSError: the kernel does not tell it.
    """
    number = ctypes.c_uint32(0)
    following = ctypes.byref(number)
    while (result := library().bpf_prog_get_next_id(number, following)) != -errno.ENOENT:
        checked(result, "the next BPF program")
        file = library().bpf_prog_get_fd_by_id(number)
        if file == -errno.ENOENT:  # it was unloaded in between
            continue
        checked(file, f"BPF program {number.value}")
        try:
            yield described(file)
        finally:
            os.close(file)


def described(file: int) -> tuple[int, bool]:
    """Return the type of an open program, and whether the kernel has compiled it."""
    info = ctypes.create_string_buffer(PROGRAM.size)
    size = ctypes.c_uint32(PROGRAM.size)
    checked(library().bpf_obj_get_info_by_fd(file, info, ctypes.byref(size)), "a BPF program")
    kind, _, _, machine_code_bytes, _ = PROGRAM.unpack(info)
    return kind, machine_code_bytes > 0


@contextmanager
def mapped(pin: Path, size: int) -> Iterator[mmap.mmap]:
    """Map the first `size` bytes of a pinned array for reading, for the duration of a `with`.

    Raises:
        OSError: there is no such map, or it cannot be mapped.
    """
    file = checked(library().bpf_obj_get(bytes(pin)), str(pin))
    try:
        memory = mmap.mmap(file, size, mmap.MAP_SHARED, mmap.PROT_READ)
    finally:
        os.close(file)
    with memory:
        yield memory
