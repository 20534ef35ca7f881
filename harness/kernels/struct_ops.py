# SPDX-License-Identifier: GPL-2.0-only
"""Kernels that run a congestion control in BPF (struct_ops), and the building of such a program.

The kernel checks such a program by the description of its own types (BTF). pahole makes this
description while the kernel is built, from debugging information. Set-up's kernel has neither, so
these kernels have a recipe and a build root of their own, and set-up's stays as it is.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from harness.host import paths
from harness.host.whole import whole
from harness.kernels import names
from harness.kernels.errors import KernelError
from harness.kernels.names import Source
from harness.kernels.options import Options
from harness.kernels.patches import Patched
from harness.kernels.recipe import LAB, Recipe
from plan import struct_ops
from plan.errors import MissingError, UsageError

KIND = "bpf"
FOLDER = paths.PROJECT / "lab" / "struct_ops"
KERNEL = paths.PROJECT / "lab" / "kernel"
ROOT, COMPILE = FOLDER / "root", FOLDER / "compile"
TIMEOUT_S = 3600
PATCHES = sorted((FOLDER / "patches").glob("*.patch"))
# What patch 0009 of lab/kernel adds to a source on which it applies.
COMPILER = "arch/x86/um/bpf_jit.c"
NEEDED_OFF = ("CONFIG_BPF_JIT=n", "CONFIG_DEBUG_INFO_BTF=n")
# The build looks for no pahole, because Kconfig would write down which it finds.
# The types stay in a kernel without its debugging information, which is most of its 100 MB. A
# kernel that is asked for this information keeps it.
REPLACED = {
    "PAHOLE=false": "PAHOLE=pahole",
    'cp "$work/build/linux" "$output"\n': """case " $* " in
*" CONFIG_DEBUG_INFO"*) cp "$work/build/linux" "$output" ;;
*) strip --strip-debug -o "$output/linux" "$work/build/linux" ;;
esac
""",
}


def recipe_for(modules: Iterable[Path]) -> Recipe:
    """The recipe of a kernel that is to run these modules of a person's own."""
    return recipe() if any(map(struct_ops.is_given, modules)) else LAB


def check_config(name: str, asked: Options) -> None:
    """UsageError for a kernel of a name that is to run such programs without what runs them."""
    given = next(filter(struct_ops.is_given, asked.modules), None)
    for line in asked.config:
        if given is not None and line in NEEDED_OFF:
            option = line.removeprefix("CONFIG_").removesuffix("=n")
            raise UsageError(
                f"kernel {name}: config=-{option}: without this option the kernel cannot run"
                f" {given.name}; leave out config=-{option}"
            )


def check_compiler(found: Source, patched: Patched, name: str) -> None:
    """UsageError for a source that no patch gives a compiler of BPF programs."""
    if COMPILER not in patched.files and COMPILER not in found.tree.files:
        raise UsageError(
            f"kernel {name} ({found.version}) has no compiler of BPF programs, which a congestion"
            f" control in BPF needs; {names.SET_UP} has it"
        )


def recipe() -> Recipe:
    """The lab's recipe with BTF."""
    texts = {
        name: (KERNEL / name).read_text() + (FOLDER / name).read_text()
        for name in ("config", "parts")
    }
    texts["build"] = building((KERNEL / "build").read_text())
    read = [path for path in (*KERNEL.rglob("*"), *PATCHES) if path.is_file()]
    root = names.home() / f"recipe-{key(paths.content(*read), *texts.values())}"
    if not root.exists():
        with whole(root) as partial:
            make(partial, texts)
    return Recipe(root, KIND, kept=(struct_ops.CONFIG,), tree=names.home() / f"root-{of_tree()}")


def building(build: str) -> str:
    """lab/kernel/build for kernels with BTF."""
    for old, new in REPLACED.items():
        if build.count(old) != 1:
            raise KernelError(
                f"lab/kernel/build has no line {old.strip()}, which kernels with BTF replace"
            )
        build = build.replace(old, new)
    return build


def key(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[: paths.DIGITS]


def of_tree() -> str:
    """What the build root is made of."""
    read = paths.content(ROOT, FOLDER / "packages")
    return key(read, paths.places()["root"].name)


def make(root: Path, texts: dict[str, str]) -> None:
    """Write the recipe into a folder."""
    shutil.copytree(KERNEL, root / "lab" / "kernel")
    shutil.copy(KERNEL.parent / "strict", root / "lab")
    for name, text in texts.items():
        (root / "lab" / "kernel" / name).write_text(text)
    for patch in PATCHES:
        shutil.copy(patch, root / "lab" / "kernel" / "patches")


def make_root(place: Path) -> None:
    """Make the build root; MissingError where it cannot be."""
    print("kernel: fetching what a kernel with BTF is built with", file=sys.stderr)
    failed, argv = "the build root of kernels with BTF could not be made", [str(ROOT), str(place)]
    try:
        done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=TIMEOUT_S)
    except subprocess.TimeoutExpired:
        raise MissingError(
            f"{failed}: its packages were not there after {TIMEOUT_S} s; try again with a faster"
            " network"
        ) from None
    if done.returncode != 0:
        said = "".join(done.stderr.strip().splitlines()[-1:])
        raise MissingError(f"{failed}: {said.removeprefix('lab/struct_ops/root: ')}")
