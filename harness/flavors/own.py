# SPDX-License-Identifier: GPL-2.0-only
"""A congestion control of a person's own: module:PATH in the place of a flavor's name.

It is a module of the kernel, or a program of BPF (mine.bpf.c, mine.bpf.o). It has the sysctls and
routes of Linux's own reno. What builds it is harness/kernels.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path

from harness.flavors import files
from harness.flavors.files import Flavor
from plan import struct_ops
from plan.errors import UsageError

PREFIX = "module:"
LIKE = "linux-reno"
RULES = ("Kbuild", "Makefile")
OBJECTS = re.compile(r"^obj-m\s*[:+]?=\s*(\S+)\.o\s*$", re.MULTILINE)
OPERATIONS = re.compile(r'struct\s+tcp_congestion_ops\b[^;{}]*=\s*\{[^}]*?\.name\s*=\s*"([^"]+)"')
USUAL = "tcp_"  # before the name of a congestion control, in the name of its module


def is_own(name: str) -> bool:
    """Is a flavor's name that of a module?"""
    return name.startswith(PREFIX)


def load(name: str) -> Flavor:
    """The flavor of module:PATH.

    Raises:
        UsageError: there is no such module.
    """
    given = Path(name.removeprefix(PREFIX))
    module = module_name(name, given)
    control = control_name(given, module)
    return replace(files.load(LIKE), name=control, congestion=control, module=module)


def module_name(name: str, given: Path) -> str:
    """That by which the kernel knows the module."""
    if given.is_file():
        return struct_ops.program(given) if struct_ops.is_given(given) else given.stem
    rules = next((given / rule for rule in RULES if (given / rule).is_file()), None)
    if rules is None:
        what = (
            "this folder has no Kbuild and no Makefile" if given.is_dir() else "it does not exist"
        )
        raise UsageError(
            f"tcp.flavor = {name}: {what}; name a folder, a C file (.c, .bpf.c), or a file .ko or"
            " .bpf.o"
        )
    objects = OBJECTS.findall(rules.read_text())
    if len(objects) != 1:
        raise UsageError(
            f"tcp.flavor = {name}: {rules.name} must have one line obj-m := NAME.o, and has"
            f" {len(objects)}"
        )
    return str(objects[0])


def control_name(given: Path, module: str) -> str:
    """What the module registers, by its sources; else by its name, as all of Linux's are named."""
    usual = module.removesuffix(struct_ops.PROGRAM).removeprefix(USUAL)
    sources = (
        sorted(given.glob("*.c")) if given.is_dir() else [given] if given.suffix == ".c" else []
    )
    found = [x for path in sources for x in OPERATIONS.findall(path.read_text(errors="replace"))]
    return usual if usual in found or not found else str(found[0])


def check_distinct(flavors: Mapping[str, Flavor]) -> None:
    """UsageError where a module of a list is the same for the kernel as another flavor.

    Args:
        flavors: by the names that the list has.
    """
    for one, other in combinations(flavors, 2):
        if not (is_own(one) or is_own(other)) or place(one) == place(other):
            continue
        first, second = flavors[one], flavors[other]
        if first.congestion == second.congestion:
            raise UsageError(
                f"tcp.flavor: {one} and {other} have the same congestion control"
                f" {first.congestion}; give yours a name of its own"
            )
        if first.module is not None and first.module == second.module:
            raise UsageError(
                f"tcp.flavor: {one} and {other} have the same module {first.module}; give yours a"
                " name of its own"
            )


def place(name: str) -> Path:
    """Where a flavor's module is; of another flavor its name."""
    return Path(name.removeprefix(PREFIX)).resolve() if is_own(name) else Path(name)


def on_kernel(kernel: str | None, names: Sequence[str]) -> str | None:
    """The name of a kernel with the modules of the flavors of these names.

    A name that begins with a comma is set-up's kernel with what follows.
    """
    given = dict.fromkeys(name.removeprefix(PREFIX) for name in names if is_own(name))
    added = "".join(f",module={struct_ops.placed(Path(path))}" for path in given)
    return f"{kernel or ''}{added}" if added else kernel
