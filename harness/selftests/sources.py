# SPDX-License-Identifier: GPL-2.0-only
"""The tests of a tree, and the kernels on which they run."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.host import paths
from harness.kernels import lay, names, store
from harness.kernels.kernel import tell
from harness.kernels.trees import Tree
from harness.scripts import products
from harness.selftests import recipe
from harness.selftests.choice import TOP, Test, all_in, chosen, limit_s
from harness.selftests.whole import whole


@dataclass(frozen=True, kw_only=True)
class Tests:
    """Tests of a tree, laid out.

    Attributes:
        kernel: the name of the tree.
        place: the top of a source with nothing in it but tests.
        chosen: those asked for.
        configs: texts of the files `config` in their folders.
        all_configs: those of all folders of their groups, as net: what one kernel needs for any.
    """

    __test__ = False  # not one of ours

    kernel: str
    place: Path
    chosen: Sequence[Test]
    configs: Sequence[str]
    all_configs: Sequence[str]

    def limit_s(self, test: Test) -> int:
        """How long a test may take [s]."""
        settings = self.place / TOP / test.folder / "settings"
        return limit_s(settings.read_text() if settings.exists() else "")


def tests(name: str, asked: Sequence[str]) -> Tests:
    """The tests of a kernel's tree.

    Raises:
        UsageError: there is no such kernel, or no such test.
        MissingError: Debian has no such version, or cannot be reached.
    """
    tree = names.source(name, recipe.for_tests()).tree
    found = chosen(name, all_in(tree.files), asked)
    groups = tuple({f"{TOP}{one.folder.partition('/')[0]}/" for one in found})
    configs = [x for x in sorted(tree.files) if x.startswith(groups) and x.endswith("/config")]
    texts = {path: content.decode() for path, content in tree.read(configs)}
    own = {f"{TOP}{one.folder}/config" for one in found}
    return Tests(
        kernel=name, place=laid(tree), chosen=found, all_configs=list(texts.values()),
        configs=[text for path, text in texts.items() if path in own],
    )  # fmt: skip


def laid(tree: Tree) -> Path:
    """The folder with a tree's tests and what they are built with, kept by its content."""
    wanted = dict(sorted(tree.files.items()))
    told = json.dumps([[path, file.mode, file.blob] for path, file in wanted.items()])
    key = hashlib.sha256(told.encode()).hexdigest()[: paths.DIGITS]
    place = names.home() / f"tests-{key}"
    if not place.exists():
        with whole(place) as partial:
            for path, content in tree.read(wanted):
                lay.write(partial / path, wanted[path].mode, content)
    return place


@dataclass(frozen=True)
class Kernel:
    """A kernel that tests run on: its folder, and what `uname -r` says there."""

    folder: Path
    release: str


def built(name: str, found: Tests) -> Kernel:
    """The kernel of a name with what the tests ask for; says what it has not.

    Set-up's version is the kernel for scripts, if that has all: nobody waits for another build.
    Any other has what all tests of the group ask for, so that it is built once.

    Raises:
        UsageError, MissingError: there is no such kernel.
        KernelError: it does not build.
    """
    asked = recipe.options(found.configs)
    if name == names.SET_UP:
        full = products.kernel()
        has = (full / "build" / ".config").read_text().splitlines()
        if all(f"CONFIG_{option}={value}" in has for option, value in asked.items()):
            return Kernel(full, (full / "release").read_text().strip())
    made = store.made(name, recipe.for_kernels(found.all_configs))
    if lacks := sorted(asked.keys() & set(made.lacks)):
        tell(f"kernel {name}: no {', '.join(lacks)}, which the tests ask for")
    return Kernel(made.folder, made.release)
