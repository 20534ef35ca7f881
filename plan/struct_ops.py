# SPDX-License-Identifier: GPL-2.0-only
"""Names of files of a congestion control in BPF (struct_ops). Standard library only."""

from __future__ import annotations

from pathlib import Path, PurePath

# What a person gives: a source for clang, or what clang has made of it.
SOURCE, OBJECT = ".bpf.c", ".bpf.o"
# What lies beside the kernel. The lab's own programs of BPF have other names.
PROGRAM = ".struct_ops.o"
# The kernel's options, which a program may ask for (__kconfig), as its build names their file.
CONFIG = ".config"


def is_given(path: PurePath) -> bool:
    """Is a file that a person names a congestion control in BPF?"""
    return path.name.endswith((SOURCE, OBJECT))


def placed(path: Path) -> Path:
    """Where a module is, by the name that a person gave: a link's own name says what it is."""
    return path.resolve() if path.is_dir() else path.parent.resolve() / path.name


def program(path: PurePath) -> str:
    """The name of what is made of such a file; it is also the name of the flavor's module."""
    return path.name[: -len(SOURCE)] + PROGRAM


def is_program(module: str) -> bool:
    """Is a flavor's module a program of BPF?"""
    return module.endswith(PROGRAM)


def built(module: str) -> str:
    """The file of a flavor's module beside the kernel."""
    return module if is_program(module) else f"{module}.ko"
