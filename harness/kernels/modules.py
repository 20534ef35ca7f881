# SPDX-License-Identifier: GPL-2.0-only
"""Modules of a person's own, built for a lab's kernel.

A module is a folder with a Kbuild or a Makefile that says obj-m, a C file, or a file that is built
already. It is copied before it is built: kbuild writes beside its sources. A congestion control in
BPF stands in the place of a module, as a C file or as an object.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from harness.host import paths
from harness.kernels.errors import KernelError
from harness.kernels.parts import MADE
from harness.kernels.trees import blob
from plan import struct_ops
from plan.errors import NoFileError, UsageError

BUILT = ".ko"
CACHE = "__pycache__"  # Python writes it beside programs that it runs
RULES = ("Kbuild", "Makefile")
MOVING = paths.PROJECT / "topology/moving"
# Of a source in BPF: with a / it would lie outside of the folder in which it is compiled.
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"/]+)"', re.MULTILINE)
OBJECT = re.compile(r"^obj-m\s*[:+]?=\s*(\w+)\.o\s*$", re.MULTILINE)
# What a module of the project is built from, where its folder has other files, too.
OWN = {MOVING: ("Kbuild", "*.c", "*.h")}
# Files that a module of the project has in another folder.
SHARED = {MOVING: (paths.PROJECT / "bpf/path.h",)}


def contents(modules: Sequence[Path]) -> list[tuple[str, str]]:
    """What modules are made of: names of files, and Git's names of what they hold."""
    files = (item for given in modules for item in sources(given).items())
    return [(name, blob(path.read_bytes())) for name, path in files]


def check(name: str, given: Sequence[Path]) -> None:
    """UsageError where two modules would lie beside the kernel as one file.

    What a folder builds is known only afterwards: collect() looks at that.

    Args:
        name: of the kernel, for errors.
    """
    seen: dict[str, Path] = {}
    for path in dict.fromkeys(given):
        if not path.is_file():
            continue
        product = product_of(path)
        if (other := seen.setdefault(product, path)) != path:
            raise UsageError(
                f"kernel {name}: {other} and {path} would both be its {product}; give each file a"
                " name of its own"
            )


def check_sources(given: Sequence[Path]) -> None:
    """NoFileError where a folder lacks the C file of its module: before minutes of a build.

    A module of several objects, or of a file that its rules make, is left to the build.
    """
    for folder in filter(Path.is_dir, given):
        found = sources(folder)
        rules = next(found[name] for name in RULES if name in found)
        text = rules.read_text(errors="replace")
        for name in OBJECT.findall(text):
            other = rf"\b{name}-(y|objs)\b|(\b{name}|%)\.[coS]\s*:"
            if not found.keys() & {f"{name}.c", f"{name}.S"} and not re.search(other, text):
                raise NoFileError(
                    f"module {folder}: its {rules.name} builds {name}.o, and the folder has no"
                    f" {name}.c; put this file into the folder",
                    folder / f"{name}.c",
                )


def product_of(given: Path) -> str:
    """What is built of a module that is a file."""
    return struct_ops.program(given) if struct_ops.is_given(given) else f"{given.stem}{BUILT}"


def sources(given: Path) -> dict[str, Path]:
    """The files of a module by their names in its folder; UsageError where it cannot be one."""
    if given.is_file():
        if given.suffix not in (BUILT, ".c") and not struct_ops.is_given(given):
            raise UsageError(
                f"module {given}: name a folder, a C file (.c, .bpf.c), or a file .ko or .bpf.o"
            )
        return {given.name: given} | (headers(given) if struct_ops.is_given(given) else {})
    wanted = (path for path in files(given) if any(map(path.match, OWN.get(given, ("*",)))))
    found = {str(path.relative_to(given)): path for path in wanted}
    found |= {path.name: path for path in SHARED.get(given, ())}
    if not found.keys() & set(RULES):
        raise UsageError(
            f"module {given}: this folder has no Kbuild and no Makefile; add a Kbuild with the"
            " line obj-m := NAME.o"
        )
    return found


def headers(source: Path) -> dict[str, Path]:
    """The files of its folder that a source in BPF includes, directly or not, by their names.

    Where the source is a link, as to a program of the kernel's tree, it is the folder of the file.
    """
    folder, found = source.resolve().parent, dict[str, Path]()
    left = [] if source.name.endswith(struct_ops.OBJECT) else [source]
    while left:
        for name in INCLUDE.findall(left.pop().read_text(errors="replace")):
            if name not in found and (folder / name).is_file():
                found[name] = folder / name
                left.append(folder / name)
    return found


def files(folder: Path) -> Iterator[Path]:
    """What no build has made, in the order of the names."""
    for top, folders, names in os.walk(folder):
        folders[:] = sorted(x for x in folders if not x.startswith(".") and x != CACHE)
        for name in sorted(names):
            if not name.startswith(".") and not MADE.match(name):
                yield Path(top, name)


def lay(given: Path, work: Path) -> None:
    """Put a module's files into the folder where it is built."""
    shutil.rmtree(work, ignore_errors=True)
    for name, path in sources(given).items():
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, work / name)
    if given.suffix == ".c" and not struct_ops.is_given(given):
        (work / RULES[0]).write_text(f"obj-m := {given.stem}.o\n")


def argv(build: Path, work: Path) -> list[str]:
    """What builds it; words that name files of the cache stand alone or behind NAME=."""
    return ["make", "-s", "-C", str(build), "ARCH=um", f"M={work}", "modules"]


def collect(name: str, given: Path, work: Path, output: Path, taken: set[str]) -> None:
    """Put what was built beside the kernel; KernelError where nothing was.

    Args:
        name: of the kernel, for errors.
        taken: files of the modules before it, to which its own are added.
    """
    made = sorted(work.rglob(f"*{BUILT}"))
    if not made:
        raise KernelError(
            f"kernel {name}: {given} builds no module; its Kbuild or Makefile needs the line"
            " obj-m := NAME.o"
        )
    for path in made:
        if path.name in taken:
            raise KernelError(
                f"kernel {name}: {given} builds {path.name}, and so does another module; give the"
                " module another name"
            )
        taken.add(path.name)
        shutil.copyfile(path, output / path.name)


def set_up() -> tuple[Path, list[Path]]:
    """The folder of set-up's kernel, and the modules that belong to it.

    Raises:
        MissingError: set-up has not been run.
    """
    return paths.kernel().parent, sorted(paths.programs().glob(f"*{BUILT}"))
