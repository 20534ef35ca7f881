# SPDX-License-Identifier: GPL-2.0-only
"""What lab.kernel and --kernel may name, and the source that it stands for."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from harness.host import paths
from harness.kernels import debug, options, parts, series, tracing
from harness.kernels.recipe import LAB, Recipe
from harness.kernels.trees import Commit, Folder, Tree
from plan.errors import MissingError, UsageError

SET_UP = "6.12"
VERSION = (b"VERSION", b"PATCHLEVEL")
DEBIAN = re.compile(r"\d{1,3}\.\d{1,3}")
ALLOWED = (
    f"{SET_UP} (set-up's), a version of Debian such as 6.1, path:DIR or git:DIR@COMMIT, "
    "each also with ,hz=N, ,config=+OPTION, ,patch=FILE or ,module=PATH"
)
FETCH = "lab/kernel/fetch"
PARTS = "lab/kernel/parts"  # what is fetched, of which a recipe may use less
NOTE = ".parts"  # in a source that was fetched, what was named then


@dataclass(frozen=True, kw_only=True)
class Source:
    """A source that is there to be read.

    Attributes:
        version: as 6.1; all sources of a version are built in one folder.
        text: what it is, for the record.
        config: lines for Kconfig that its name asks for, as CONFIG_HZ=250.
        modules: files or folders of modules that its name asks for.
    """

    tree: Tree
    version: str
    text: str
    config: tuple[str, ...] = ()
    modules: tuple[Path, ...] = ()


def home() -> Path:
    """Where the kernels are."""
    folder = paths.places()["cache"] / "kernels"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def place(name: str) -> tuple[str, str, str]:
    """Kind (debian, path, git), version or folder, and commit; UsageError for any other name."""
    kind, colon, rest = name.partition(":")
    if not colon and DEBIAN.fullmatch(name):
        return "debian", name, ""
    if kind == "path" and rest:
        return kind, str(Path(rest).resolve()), ""
    folder, at, commit = rest.rpartition("@")
    if kind == "git" and at and folder and commit:
        return kind, str(Path(folder).resolve()), commit
    raise UsageError(f"kernel {name}: this name is not known; write one of {ALLOWED}")


def check(name: str) -> None:
    """UsageError for a name that can be that of no kernel."""
    place(options.parted(name)[0])


def runs_code(name: str) -> bool:
    """Does it name a tree, patch or module, whose build files run here? All else is Debian's."""
    return name.startswith(("path:", "git:")) or options.has_code(name)


def source(name: str, recipe: Recipe = LAB) -> Source:
    """The source that a name stands for; Debian's is fetched the first time.

    Raises:
        UsageError: no such name, folder or commit, or no source of a kernel.
        MissingError: Debian has no such version, or cannot be reached.
        KernelError: a patch that the name asks for does not apply.
    """
    plain, asked = options.parted(name)
    kind, where, commit = place(plain)
    if kind == "git":
        tree: Tree = (of_commit := Commit(name, Path(where), commit, recipe))
        text = f"commit {of_commit.commit}"
    else:
        folder, text = debian(where, recipe) if kind == "debian" else (Path(where), where)
        read = f"{folder}{recipe.kind and recipe.parts}"
        seen = hashlib.sha256(read.encode()).hexdigest()[: paths.DIGITS]
        tree = Folder(name, folder, home() / f"seen-{seen}.json", recipe)
    for given in asked.patches:
        tree = series.amended(name, tree, given, recipe)
        text += f" with {given.name}"
    if tracing.OPTION in asked.config:
        tree = tracing.fitted(tree)
    for line in asked.config:
        if line in debug.PATCHES:
            tree = series.amended(name, tree, debug.PATCHES[line], recipe)
    text += "".join(f" and {given.name}" for given in asked.modules)
    return Source(
        tree=tree, version=version(name, tree), text=text, config=asked.config,
        modules=asked.modules,
    )  # fmt: skip


def version(name: str, tree: Tree) -> str:
    """A source's version, as 6.1."""
    [(_, makefile)] = tree.read(["Makefile"])
    found = [re.search(rb"^%s = (\d+)$" % key, makefile, re.MULTILINE) for key in VERSION]
    if not all(found):
        raise UsageError(
            f"kernel {name}: this folder is no kernel source: its Makefile names no version"
        )
    return ".".join(match[1].decode() for match in found if match)


def debian(version: str, recipe: Recipe = LAB) -> tuple[Path, str]:
    """Debian's source of a version, unpacked, and its package with the package's version."""
    folder, named = home() / recipe.folder(f"debian-{version}"), recipe.root / PARTS
    if not folder.exists() or stale(folder, named, recipe):
        shutil.rmtree(folder, ignore_errors=True)
        argv = [str(paths.PROJECT / FETCH), version, str(folder), str(named)]
        done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=3600)
        if done.returncode != 0:
            said = "".join(done.stderr.strip().splitlines()[-1:]).removeprefix(f"{FETCH}: ")
            raise MissingError(f"kernel {version}: {said}")
        shutil.copyfile(named, folder / NOTE)
    package = (folder / ".package").read_text().strip()
    return folder, f"linux-source-{version} {package}"


def is_fetched(plain: str, recipe: Recipe = LAB) -> bool:
    """Is a source here, so that source() fetches nothing?"""
    kind, where, _ = place(plain)
    folder = home() / recipe.folder(f"debian-{where}")
    fresh = folder.exists() and not stale(folder, recipe.root / PARTS, recipe)
    return kind != "debian" or fresh


def stale(folder: Path, named: Path, recipe: Recipe) -> bool:
    """Does a source that was fetched have other parts than are named now?

    One of the lab's own recipe may have no note, and then has the parts that are named to this day.
    """
    note = folder / NOTE
    if not note.exists():
        return bool(recipe.kind)
    return parts.lines(note) != parts.lines(named)
