# SPDX-License-Identifier: GPL-2.0-only
"""The lab's patches on any kernel's source: what lab/kernel/patch makes of its files."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.host import temporary
from harness.kernels.errors import KernelError
from harness.kernels.recipe import LAB, Recipe
from harness.kernels.trees import Tree, blob
from plan.errors import LabError

FOLDER = "lab/kernel/patches"
PATCH = "lab/kernel/patch"
TOUCHED = re.compile(r"^\+\+\+ b/(\S+)", re.MULTILINE)
ASKED = re.compile(r"^(?:Needed|Wanted) where (\S+) has: ", re.MULTILINE)
# What it ends with where a patch that is needed does not apply (lab/strict's fail).
REFUSED = 3


@dataclass(frozen=True, kw_only=True)
class Patched:
    """Files that the patches change or add, and the titles of those that were left out."""

    files: Mapping[str, bytes]
    left_out: Sequence[str]


def patched(name: str, tree: Tree, recipe: Recipe = LAB) -> Patched:
    """The lab's patches on a source.

    Args:
        name: of the kernel, for errors.

    Raises:
        KernelError: one that is needed does not apply.
        LabError: they could not be tried.
    """
    with temporary.folder("patches") as folder:
        changed = named(recipe, TOUCHED)
        read = {*changed, *named(recipe, ASKED)}
        for path, content in tree.read(sorted(read & tree.files.keys())):
            put(folder / path, content)
        argv = [str(recipe.root / PATCH), str(folder)]
        done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=600)
        if done.returncode != 0:
            said = "".join(done.stderr.strip().splitlines()[-1:]).removeprefix(f"{PATCH}: ")
            raise (KernelError if done.returncode == REFUSED else LabError)(
                f"kernel {name}: {said}"
            )
        found = {path: (folder / path).read_bytes() for path in changed if (folder / path).exists()}
    before = {path: file.blob for path, file in tree.files.items()}
    files = {path: x for path, x in found.items() if before.get(path) != blob(x)}
    return Patched(files=files, left_out=done.stdout.splitlines())


def named(recipe: Recipe, how: re.Pattern[str]) -> list[str]:
    """The files that any patch changes or adds (TOUCHED), or whose text decides on one (ASKED)."""
    texts = [path.read_text() for path in (recipe.root / FOLDER).rglob("*.patch")]
    return sorted({path for text in texts for path in how.findall(text)})


def put(path: Path, content: bytes) -> None:
    """A file in a folder that may not be there yet."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
