# SPDX-License-Identifier: GPL-2.0-only
"""Kernels by name: built when they are not there, listed, removed.

A kernel is kept by its content: files of the source, the lab's recipe, the TCP module's source.
What a version of Linux was built with stays, so that its next tree compiles what differs.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from harness.host import paths, step
from harness.kernels import headers, kernel, modules, options, patches, struct_ops
from harness.kernels.errors import KernelError
from harness.kernels.kernel import Kernel
from harness.kernels.lay import lay
from harness.kernels.names import SET_UP, Source, home, is_fetched, source
from harness.kernels.patches import Patched
from harness.kernels.recipe import LAB, Recipe, folder_of
from harness.kernels.trees import blob
from plan.errors import LabError, UsageError
from plan.struct_ops import OBJECT, is_given, program

ENTER = "lab/root/enter"
BUILD = "lab/kernel/build"
RECIPE = [
    f"lab/kernel/{name}" for name in ("build", "cc", "config", "config-newer", "precompiled.c")
]
TCP_MODULE = "lab/programs/tcp-module"
MODULE = "tcp-configs/module"
WIRE = "lab/wire"  # the module that joins two labs (harness/linked)
WITH_WIRE = " with the lab's wire"
# Of set-up's source with an option, the modules that are built besides: MPTCP over a moving link.
OF_OPTION = {"CONFIG_MPTCP=y": (modules.MOVING,)}
OF_SET_UP = ("linux", "release", "hz", "sysctls")  # of its folder, what a kernel's has, too
SHOWN_LINES = 12
# docs/kernels.md has the measured time.
TAKES = "; the first build of a version takes about 4 minutes of processor time"
# What a compiler says that is no fault of the source: another commit would meet it, too.
OF_THE_MACHINE = ("No space left on device", "Disk quota exceeded", "Cannot allocate memory",
                  "Killed signal terminated program", "Read-only file system")  # fmt: skip
# Of lab/kernel/config, what has another name in a newer kernel and is there all the same.
RENAMED = {"PROC_SYSCTL"}


def ready(name: str) -> Kernel | None:
    """The kernel of a name for experiments, built if it is not there; None for set-up's.

    Raises:
        UsageError, MissingError: as names.source().
        KernelError: it does not build, or a patch that is needed or asked for does not apply.
    """
    if name == SET_UP:
        return None
    modules.check_sources(options.parted(name)[1].modules)
    if (given := only_modules(name)) is not None:
        return beside_set_up(name, given)
    return made(name, recipe_of(name))


def linked(name: str) -> Kernel:
    """The kernel of a name with the module that joins two labs. Raises what ready() does."""
    wire = paths.PROJECT / WIRE
    if (given := only_modules(name)) is not None:
        return beside_set_up(name + WITH_WIRE, (*given, wire))
    return made(name, recipe_of(name), (wire,), WITH_WIRE)


def recipe_of(name: str) -> Recipe:
    """The recipe of a kernel for experiments; UsageError where its modules cannot be together."""
    asked = options.parted(name)[1]
    modules.check(name, asked.modules)
    struct_ops.check_config(name, asked)
    return struct_ops.recipe_for(asked.modules)


def only_modules(name: str) -> tuple[Path, ...] | None:
    """The modules of a name that is otherwise set-up's kernel; None if it is another kernel."""
    plain, asked = options.parted(name)
    same = plain == SET_UP and asked == options.Options(modules=asked.modules)
    return asked.modules if same and recipe_of(name) == LAB else None


def beside_set_up(name: str, given: Sequence[Path]) -> Kernel:
    """Set-up's kernel with modules that are built beside it: of the kernel nothing is compiled."""
    folder, own = modules.set_up()
    product, work = place_beside(given), home() / "work-modules"
    with to_be_built(name, product, work) as wanted:
        if wanted:
            with whole_product(product) as partial, (work / "log").open("wb") as log:
                for file in (*own, *(folder / part for part in OF_SET_UP)):
                    shutil.copy2(file, partial)
                build_modules(name, given, folder / "build", work, partial, log)
                note(partial, name=name, version=SET_UP, source="set-up", left_out=[])
    return kernel.read(product)


def place_beside(given: Sequence[Path]) -> Path:
    """Where set-up's kernel with modules is, or will be."""
    folder, own = modules.set_up()
    told = [folder.name, *((path.name, blob(path.read_bytes())) for path in own)]
    digest = blob(json.dumps([told, modules.contents(given)]).encode())[: paths.DIGITS]
    return home() / f"built-{digest}"


def found(name: str, *, wire: bool = False) -> Path | None:
    """The folder of the kernel of ready(), or of linked() with `wire`; None where it is not there.

    Builds and fetches nothing.

    Raises:
        UsageError, KernelError: as ready().
    """
    beside = (paths.PROJECT / WIRE,) if wire else ()
    if (own := only_modules(name)) is not None:
        given = (*own, *beside)
        if not given:
            return modules.set_up()[0]
        product = place_beside(given)
    else:
        recipe, plain = recipe_of(name), options.parted(name)[0]
        if not is_fetched(plain, recipe):
            return None
        asked = with_modules(source(name, recipe), plain, beside)
        product = home() / f"built-{key(asked, patches.patched(name, asked.tree, recipe), recipe)}"
    return product if (product / kernel.NOTE).exists() else None


def made(name: str, recipe: Recipe, beside: tuple[Path, ...] = (), called: str = "") -> Kernel:
    """The kernel of a name by a recipe, built if it is not there. Raises what ready() does.

    Args:
        beside: modules that its name does not have.
        called: what the kernel's name has behind it for them.
    """
    found = with_modules(source(name, recipe), options.parted(name)[0], beside)
    patched = patches.patched(name, found.tree, recipe)
    if recipe.kind == struct_ops.KIND:
        struct_ops.check_compiler(found, patched, name)
    product = home() / f"built-{key(found, patched, recipe)}"
    work = home() / recipe.folder(f"work-{found.version}")
    with to_be_built(name + called, product, work, TAKES) as wanted:
        if wanted:
            build(name + called, found, patched, work, product, recipe)
    return kernel.read(product)


def with_modules(found: Source, plain: str, beside: Sequence[Path]) -> Source:
    """A source with the modules that its name does not have; plain: its name without options."""
    own = (OF_OPTION.get(line, ()) for line in found.config if plain == SET_UP)
    return replace(found, modules=(*found.modules, *beside, *chain.from_iterable(own)))


@contextmanager
def to_be_built(name: str, product: Path, work: Path, takes: str = "") -> Iterator[bool]:
    """Is a kernel not there yet? While it is being built, no other process builds in the folder.

    takes: what is told of the time for it.
    """
    if (product / kernel.NOTE).exists():  # it may be in a cache that is not ours
        yield False
        return
    work.mkdir(exist_ok=True)
    with locked(work, name):
        wanted = not (product / kernel.NOTE).exists()
        if wanted:
            print(f"kernel {name}: building{takes}", file=sys.stderr)
        yield wanted


def key(found: Source, patched: Patched, recipe: Recipe = LAB) -> str:
    """The content of a source and of all that makes a kernel of it."""
    files = sorted((path, file.mode, file.blob) for path, file in found.tree.files.items())
    ours = sorted((path, blob(content)) for path, content in patched.files.items())
    module = [p for p in (paths.PROJECT / MODULE).iterdir() if p.suffix in (".c", ".h")]
    read = [recipe.root / part for part in RECIPE]
    read += [paths.PROJECT / TCP_MODULE, *module] if recipe.module else []
    told = [paths.content(*read), paths.places()["root"].name, *recipe.kept]
    if recipe.tree is not None:
        compiled_by = paths.content(struct_ops.COMPILE)  # the only step that no recipe's folder has
        told += [recipe.tree.name, paths.image().name, compiled_by]
    own = [modules.contents(found.modules)] if found.modules else []
    return blob(json.dumps([files, ours, told, found.config, *own]).encode())[: paths.DIGITS]


def build(
    name: str, found: Source, patched: Patched, work: Path, product: Path, recipe: Recipe = LAB
) -> None:
    """Build a kernel into its folder, which is there when it is whole."""
    lay(found.tree, patched.files, work)
    headers.renew(work, recipe.root, found.config)
    with whole_product(product) as partial, (work / "log").open("wb") as log:
        root = root_of(recipe)
        build = [str(recipe.root / BUILD), str(work), str(partial), *found.config]
        run(name, build, log, root)
        if recipe.module:
            program = str(paths.PROJECT / TCP_MODULE)
            argv = [program, str(work / "build"), str(work / "module"), str(partial)]
            run(name, argv, log, root)
        build_modules(name, found.modules, work / "build", work, partial, log, root)
        for file in recipe.kept:
            shutil.copy2(work / "build" / file, partial)
        note(
            partial, name=name, version=found.version, source=found.text, kind=recipe.kind,
            left_out=patched.left_out,
        )  # fmt: skip


@contextmanager
def whole_product(product: Path) -> Iterator[Path]:
    """A folder to be filled, which then is the product."""
    partial = product.with_suffix(".partial")
    for folder in (partial, product):
        shutil.rmtree(folder, ignore_errors=True)
    partial.mkdir()
    yield partial
    partial.rename(product)


def run(name: str, argv: Sequence[str], log: BinaryIO, root: Path | None = None) -> None:
    """Run a step of a build in a root, or in set-up's build root; LabError where it fails."""
    of_root: Sequence[str | Path] = () if root is None else ("--tree", root)
    if step.run([paths.PROJECT / ENTER, *of_root, *argv], log) != 0:
        raise failed(name, Path(log.name))


def root_of(recipe: Recipe) -> Path | None:
    """The build root of a recipe, made if it is not there; MissingError where it cannot be."""
    if recipe.tree is not None and not recipe.tree.exists():
        struct_ops.make_root(recipe.tree)
    return recipe.tree


def build_modules(
    name: str, given: Sequence[Path], build: Path, work: Path, output: Path, log: BinaryIO,
    root: Path | None = None,
) -> None:  # fmt: skip
    """Build modules of a person's own against a kernel's build, beside the kernel."""
    taken: set[str] = set()
    for module in dict.fromkeys(given):
        place = work / "own"
        modules.lay(module, place)
        if is_given(module):
            build_program(name, place / module.name, output, log)
            continue
        if module.suffix != modules.BUILT:
            run(name, modules.argv(build, place), log, root)
        modules.collect(name, module, place, output, taken)


def build_program(name: str, given: Path, output: Path, log: BinaryIO) -> None:
    """Build a congestion control in BPF for a kernel, beside the kernel."""
    made = output / program(given)
    if given.name.endswith(OBJECT):
        shutil.copyfile(given, made)
        return
    argv = [struct_ops.COMPILE, output / "linux", given, made]
    run(name, [str(word) for word in argv], log, paths.image())


def note(partial: Path, **said: object) -> None:
    """Write down what a kernel is, for kernel.read()."""
    built = {
        "release": "".join(lines(partial / "release")),
        "hz": int("".join(lines(partial / "hz"))),
        "lacks": [option for option in lines(partial / "lacks") if option not in RENAMED],
        "sysctls": lines(partial / "sysctls"),
        "no_module": "".join(lines(partial / "no-module")),
    }
    (partial / kernel.NOTE).write_text(json.dumps({**said, **built}, indent=1) + "\n")


def lines(path: Path) -> list[str]:
    """A file that the build may have left."""
    return path.read_text().splitlines() if path.exists() else []


def failed(name: str, log: Path) -> LabError:
    """Why a kernel does not build: the first error, and the end of the log."""
    said = log.read_text(errors="replace").splitlines()
    for line in said:
        if any(words in line for words in OF_THE_MACHINE):
            return LabError(f"kernel {name} could not be built here: {line.strip()} ({log})")
    ours = [line for line in said if line.startswith(f"{BUILD}: ") and ": line " not in line]
    first = next((line for line in said if " error: " in line or line.startswith("make")), "")
    why = ours[-1].removeprefix(f"{BUILD}: ") if ours else first or "".join(said[-1:])
    message = f"kernel {name} does not build: {why} ({log})"
    return KernelError(message, "\n".join(said[-SHOWN_LINES:]))


@contextmanager
def locked(work: Path, name: str) -> Iterator[None]:
    """One process at a time builds in a folder; the others wait.

    The steps of a build inherit the lock, because they end a moment after this process.
    """
    descriptor = os.open(work / "lock", os.O_RDWR | os.O_CREAT, 0o644)
    os.set_inheritable(descriptor, True)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"kernel {name}: another command builds in {work}; waiting", file=sys.stderr)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def built() -> list[Kernel]:
    """All that are there, by name."""
    found = (kernel.read(note.parent) for note in home().glob(f"built-*/{kernel.NOTE}"))
    return sorted(found, key=lambda one: (one.name, one.source))


def remove(name: str) -> int:
    """A kernel, or of git:DIR all commits, with what no other needs; the bytes freed.

    Raises:
        UsageError: there is none of this name.
    """
    same = (name, name + WITH_WIRE)
    gone = [one for one in built() if one.name in same or one.name.startswith(f"{name}@")]
    if not gone:
        raise UsageError(
            f"kernel {name}: it is not built; ./cellbed kernel list shows the built kernels"
        )
    needed = {(one.version, one.kind) for one in built() if one not in gone}
    folders = [one.folder for one in gone]
    for version, kind in {(one.version, one.kind) for one in gone} - needed:
        folders += [home() / folder_of(kind, f"{what}-{version}") for what in ("work", "debian")]
    freed = sum(map(size, folders))
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
    return freed


def size(folder: Path) -> int:
    """Bytes that a folder takes on the disk."""
    return sum(path.lstat().st_blocks * 512 for path in folder.rglob("*"))
