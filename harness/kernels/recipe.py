# SPDX-License-Identifier: GPL-2.0-only
"""By which recipe a kernel is built: that of the experiments' lab, or one made from it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from harness.host import paths


@dataclass(frozen=True)
class Recipe:
    """A recipe, and where what is built by it is kept.

    Attributes:
        made: the folder that its lab/kernel is in; None: the project.
        kind: part of the names of its folders of sources and builds; empty: the lab's own.
        parts: the file that names the parts of a source, from the root.
        module: build the TCP module of the historical flavors, too.
        kept: files of the build that are kept beside the kernel.
        tree: the build root; None: set-up's.
    """

    made: Path | None = None
    kind: str = ""
    parts: str = "lab/kernel/parts"
    module: bool = True
    kept: tuple[str, ...] = ()
    tree: Path | None = None

    @property
    def root(self) -> Path:
        """The folder that lab/kernel is in."""
        return self.made or paths.PROJECT

    def folder(self, name: str) -> str:
        """The name of a folder of this recipe's."""
        return folder_of(self.kind, name)


def folder_of(kind: str, name: str) -> str:
    """The name of a folder of a kind of recipe's."""
    return f"{name}-{kind}" if kind else name


LAB = Recipe()
# The kind of harness/selftests' recipes: the kernel, and the tests of the same tree.
SELFTESTS = "selftests"
