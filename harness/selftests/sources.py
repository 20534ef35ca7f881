# SPDX-License-Identifier: GPL-2.0-only
"""The tests of a tree, and the kernels on which they run."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence, Set
from dataclasses import dataclass
from pathlib import Path

from harness.host import paths
from harness.host.whole import whole
from harness.kernels import lay, names, store
from harness.kernels.kernel import tell
from harness.kernels.trees import Tree
from harness.scripts import products
from harness.selftests import recipe
from harness.selftests.choice import (
    RUN_BY_IT,
    TOP,
    Test,
    all_are_scripts,
    all_in,
    chosen,
    limit_s,
)
from harness.selftests.products import NAMES, PROGRAMS


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
    tree, place, found = found_in(name, asked)
    groups = tuple({f"{TOP}{one.folder.partition('/')[0]}/" for one in found})
    configs = [x for x in sorted(tree.files) if x.startswith(groups) and x.endswith("/config")]
    texts = {path: content.decode() for path, content in tree.read(configs)}
    own = {f"{TOP}{one.folder}/config" for one in found}
    if any(not one.file.endswith(RUN_BY_IT) for one in found):
        place = with_programs(place)
    return Tests(
        kernel=name, place=place, chosen=found, all_configs=list(texts.values()),
        configs=[text for path, text in texts.items() if path in own],
    )  # fmt: skip


def found_in(name: str, asked: Sequence[str]) -> tuple[Tree, Path, Sequence[Test]]:
    """The tree of a kernel, its tests laid out, and those that are asked for."""
    tree = names.source(name, recipe.for_tests()).tree
    known, place = all_in(tree.files), laid(tree)
    if not all_are_scripts(known, asked):
        known = sorted([*known, *to_be_built(place)])
    return tree, place, chosen(name, known, asked)


def listed(name: str, asked: Sequence[str]) -> Sequence[Test]:
    """The tests alone; raises as tests() does."""
    return found_in(name, asked)[2]


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


def to_be_built(place: Path) -> list[Test]:
    """The tests of a tree that are programs, of which only its Makefiles know."""
    names = place.with_name(f"{place.name}-{paths.content(NAMES)}")
    products.make(f"names of {place.name}", names, [NAMES, place, names])
    found = (line.rpartition("/") for line in names.read_text().splitlines())
    return [Test(folder, file) for folder, _, file in found]


def with_programs(place: Path) -> Path:
    """The same with the programs that are built of it, made when first used."""
    built = place.with_name(f"{place.name}-{paths.content(PROGRAMS)}")
    products.make(f"programs of {place.name}", built, [PROGRAMS, place, built])
    return built


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
        lacks = {option for option, value in asked.items() if f"CONFIG_{option}={value}" not in has}
        if lacks <= recipe.WITHOUT:
            tell_lacks(name, lacks)
            return Kernel(full, (full / "release").read_text().strip())
    made = store.made(name, recipe.for_kernels(found.all_configs))
    tell_lacks(name, asked.keys() & {*made.lacks, *recipe.WITHOUT})
    return Kernel(made.folder, made.release)


def tell_lacks(name: str, lacks: Set[str]) -> None:
    """Say which options a kernel has not although the tests ask for them."""
    if lacks:
        tell(f"kernel {name}: no {', '.join(sorted(lacks))}, which the tests ask for")
