# SPDX-License-Identifier: GPL-2.0-only
"""By which recipe kernels for selftests are built: that of scripts, with what the tests ask for."""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from harness.host import paths
from harness.host.whole import whole
from harness.kernels import names, parts, trees
from harness.kernels.recipe import SELFTESTS, Recipe
from harness.scripts.job import BUILT_IN

LAB = paths.PROJECT / "lab"
ADDED = [LAB / "mininet" / "kernel", LAB / "selftests"]
# Without it IPsec measures at the boot of the lab a clock that stands still, for ever.
PATCHES = [LAB / "mininet" / "kernel" / "patches" / "2002-no-jitter.patch"]
OPTION = re.compile(r"CONFIG_(\w+)=(\S.*)")
# What tests ask for and is there without a line of its own, as the ticks that the lab chooses.
ALWAYS = {"NET_SCH_FIFO", "HZ_1000", "HZ", "NET_NS"}
# Its source is in newer trees alone, and a part that a tree has not cannot be fetched of it.
WITHOUT = {"OVPN"}


def for_kernels(asked: Iterable[str] = ()) -> Recipe:
    """The recipe of the kernels that tests run on.

    Args:
        asked: texts of the tests' own files `config`.
    """
    config, tests = composed("config", ADDED), (LAB / "selftests" / "tests").read_text()
    wanted = {name: x for name, x in options(asked).items() if name not in WITHOUT}
    config += "".join(f"CONFIG_{name}={value}\n" for name, value in wanted.items())
    fetched = parts.once(parts.named(composed("parts", ADDED) + tests))
    texts = {
        "config": config,
        "parts": "".join(f"{line}\n" for line in fetched),
        "parts.kernel": composed("parts", ADDED),
        "parts.tests": "\n".join([tests, *trees.TOP]),  # by these a source is known
    }
    read = [*(LAB / "kernel").rglob("*"), LAB / "strict", *PATCHES]
    found = [paths.content(*(path for path in read if path.is_file())), *texts.values()]
    key = hashlib.sha256("\0".join(found).encode()).hexdigest()[: paths.DIGITS]
    root = names.home() / f"recipe-{key}"
    if not root.exists():
        with whole(root) as partial:
            make(partial, texts)
    return Recipe(root, SELFTESTS, "lab/kernel/parts.kernel", module=False, kept=BUILT_IN)


def for_tests() -> Recipe:
    """A recipe of which the parts alone count: those of the tests."""
    return replace(for_kernels(), parts="lab/kernel/parts.tests")


def composed(name: str, added: Iterable[Path]) -> str:
    """The lab's file of this name with what is added to it."""
    return "".join((folder / name).read_text() for folder in (LAB / "kernel", *added))


def options(texts: Iterable[str]) -> dict[str, str]:
    """The options of several files; modules are built in, because no test's lab can load any."""
    found = [
        match.groups() for text in texts for match in map(OPTION.match, text.splitlines()) if match
    ]
    asked = ((name, value) for name, value in found if name not in ALWAYS)
    return {name: "y" if value == "m" else value for name, value in asked}


def make(root: Path, texts: dict[str, str]) -> None:
    """Write the recipe into a folder."""
    shutil.copytree(LAB / "kernel", root / "lab" / "kernel")
    shutil.copy(LAB / "strict", root / "lab")
    for name, text in texts.items():
        (root / "lab" / "kernel" / name).write_text(text)
    for patch in PATCHES:
        shutil.copy(patch, root / "lab" / "kernel" / "patches")
