# SPDX-License-Identifier: GPL-2.0-only
"""Small releases, packed by the project's own recipe, and such as a stranger could make."""

from __future__ import annotations

import hashlib
import io
import json
import lzma
import os
import platform
import subprocess
import sys
import tarfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness.host import paths
from tests.fresh.machine import FAKE_PYTHON, Machine
from tests.small import PROJECT
from tests.test_version import VERSION

LIST = "cellbed-release.json"
# Runs the scripts of lab/release, and is FAKE_PYTHON for the rest.
PYTHON = f'case $1 in -sEB) exec {sys.executable} "$@" ;; esac\n{FAKE_PYTHON}'
# In place of Debian's Python: its pip notes how it was called, and what was left of pip's settings.
DEBIAN = r"""mkdir -p "$1/bin"
(echo '#!/bin/sh'; cat) > "$1/bin/python" << 'END'
case $* in *pip*) { echo "$@"; env | grep ^PIP_; } > "${0%/bin/*}/pip-was" ;; esac
END
chmod +x "$1/bin/python"
"""
# Once a product is there, a recipe cannot change: it is part of the product's name.
RECIPES = {
    "root/build": 'mkdir "$1"',
    "image/build": 'mkdir "$1"',
    "kernel/set-up": 'rm -r "$1"; mkdir -p "$1/build" && touch "$1/complete"',
    "programs/tools": 'mkdir "$2"',
    "programs/build": 'ls "$2/build" && mkdir "$3"',
}


def lacking(here: Machine) -> Machine:
    """A machine without what a release makes needless: packages, compilers, the network."""
    for name in ("apt-get", "dpkg-query", "gcc", "cc", "clang", "make", "curl", "wget"):
        here.replace(name, "")
    for recipe, script in RECIPES.items():
        here.recipe(f"lab/{recipe}", f'[ -n "${{MAY_BUILD-}}" ] || exit 1\n{script}')
    here.replace("python3", PYTHON)
    here.recipe("lab/root/python", DEBIAN)
    return here


def places(here: Machine) -> dict[str, Path]:
    """Where set-up keeps its products there."""
    lines = here.run("lab/paths").stdout.splitlines()
    return {name: Path(path) for name, path in (line.split("=", 1) for line in lines)}


def products(here: Machine, folder: Path) -> dict[str, Path]:
    """Products as their recipes would have made them, and what a release has beside them."""
    names = {name: places(here)[name].name for name in ("image", "kernel", "programs")}
    made = {name: folder / "made" / names[name] for name in names}
    files = {
        made["image"] / "etc/cellbed-debs": "",
        made["image"] / "usr/bin/su": "su",
        made["image"] / "usr/lib/module.py": "module",
        made["kernel"] / "linux": "kernel",
        made["kernel"] / "complete": "",
        made["kernel"] / "source/.package": "6.12.1-1\n",
        made["kernel"] / "source/left.c": "out",
        made["kernel"] / "build/left": "out",
        made["programs"] / "cellq": "program",
        folder / "parts/debian/usr/bin/python3.13": "python",
        folder / "parts/wheels/click-8-none-any.whl": "wheel",
        folder / "parts/licences/debian-bash.txt": "GPL-3+",
        folder / "parts/sources.csv": "kind,name\n",
    }
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (made["image"] / "usr/bin/su").chmod(0o4755)
    (made["image"] / "tmp").mkdir()
    (made["image"] / "tmp").chmod(0o1777)
    (made["image"] / "bin").symlink_to("usr/bin")
    (made["image"] / "usr/lib/conf").symlink_to("/etc/conf")
    os.utime(made["image"] / "usr/lib/module.py", (1e9, 1e9))  # as a package's file
    return made


def pack(here: Machine, folder: Path, made: dict[str, Path], name: str = "a.tar") -> Path:
    """The release of these products."""
    return packed(here.project, places(here)["environment"], folder, made, name)


def packed(
    project: Path, environment: Path, folder: Path, made: dict[str, Path], name: str,
    machine: str = platform.machine(),
) -> Path:  # fmt: skip
    """Run the recipe of a project."""
    argv = [sys.executable, "-sEB", project / "lab/release/pack", folder / name, VERSION,
            machine, folder / "parts", *(f"{product}={path}" for product, path in made.items()),
            f"environment={environment.name.rpartition('-')[0]}-debian"]  # fmt: skip
    subprocess.run(argv, check=True, capture_output=True, timeout=60)
    return folder / name


def contents(archive: Path) -> dict[str, bytes]:
    """The files of a release, in their order."""
    with tarfile.open(archive) as opened:
        return {member.name: opened.extractfile(member).read() for member in opened}  # type: ignore[union-attr]


def write(archive: Path, files: dict[str, bytes]) -> None:
    """A release of these files."""
    with tarfile.open(archive, "w") as opened:
        for name, content in files.items():
            head = tarfile.TarInfo(name)
            head.size = len(content)
            opened.addfile(head, io.BytesIO(content))


def told(archive: Path, **others: Any) -> None:
    """Let a release's list say something else."""
    files = contents(archive)
    files[LIST] = json.dumps({**json.loads(files[LIST]), **others}).encode()
    write(archive, files)


def forged(archive: Path, members: Sequence[tarfile.TarInfo], unpacked: int = 1 << 20) -> None:
    """Let its image be of these members, each file with eight bytes; all checksums are right."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as image:
        for member in members:
            member.size = 8 if member.isreg() else 0
            image.addfile(member, io.BytesIO(b"stranger") if member.isreg() else None)
    replaced(archive, lzma.compress(packed.getvalue()), unpacked)


def replaced(archive: Path, packed: bytes, unpacked: int) -> None:
    """Let its image be of these bytes; all checksums are right."""
    files = contents(archive)
    files["image.tar.xz"] = packed
    release = json.loads(files[LIST])
    [part] = (part for part in release["parts"] if part.get("product") == "image")
    digest = hashlib.sha256(files["image.tar.xz"]).hexdigest()
    part.update(size=len(files["image.tar.xz"]), sha256=digest, unpacked=unpacked)
    files[LIST] = json.dumps(release).encode()
    write(archive, files)


def member(
    name: str, kind: bytes = tarfile.REGTYPE, target: str = "", **more: str
) -> tarfile.TarInfo:
    """The head of a file, a link or something else, with more fields of the pax format."""
    head = tarfile.TarInfo(name)
    head.type, head.linkname, head.mode, head.pax_headers = kind, target, 0o6777, more
    return head


def named_release(folder: Path, **others: str) -> Path:
    """A release of empty products with the names of this project's, or with others."""
    there = paths.places()
    names = {name: there[name].name for name in ("image", "kernel", "programs")}
    for name in ("parts/debian", "parts/wheels", "parts/licences", *names):
        (folder / name).mkdir(parents=True)
    (folder / "parts" / "sources.csv").touch()
    made = {}
    for product, name in {**names, **others}.items():
        made[product] = (folder / product).rename(folder / name)
    return packed(PROJECT, there["environment"], folder, made, "release.tar")


def digest(archive: Path) -> str:
    """Of a release's list."""
    return hashlib.sha256(contents(archive)[LIST]).hexdigest()


def cache_of(archive: Path, folder: Path) -> None:
    """A cache with this machine's products, which says that they are of a release."""
    (folder / "releases").mkdir(parents=True)
    there = paths.places()
    for name in ("image", "kernel", "programs", "environment"):
        (folder / there[name].name).symlink_to(there[name])
        (folder / "releases" / there[name].name).write_text(f"{digest(archive)}\n")
