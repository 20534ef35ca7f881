# SPDX-License-Identifier: GPL-2.0-only
"""Where things are: the project, and the cache that set-up fills.

`lab/setup` names the same places (it sources `lab/paths`): one recipe, one key, one
folder, so that a changed recipe never meets an old product.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

from harness.host import memory
from plan.errors import CellbedError, MissingError

PROJECT = Path(__file__).resolve().parents[2]
ABSENT = "absent"
DIGITS = 16
# Processors other than x86-64, as lab/paths begins the names of their products, and what set-up
# is told to make them.
OPTIONS = {"": "", "arm64": "--vm --arch arm64"}
# What ./cellbed was told when it asked. A child of this process may be another checkout's.
TOLD = os.environ.pop("CELLBED_PLACES", "")


@cache
def places() -> dict[str, Path]:
    """The places that belong to the present recipes."""
    lines = (line.split("=", 1) for line in (TOLD or ask()).splitlines())
    return {name: Path(path) for name, path in lines}


def ask() -> str:
    """What `lab/paths` says."""
    script = PROJECT / "lab" / "paths"
    version = "{}.{}".format(*sys.version_info)
    argv = [str(script), "--python", version]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=600)
    if done.returncode != 0:
        said = "".join(done.stderr.strip().splitlines()[-1:])
        raise CellbedError(f"{script} ended with status {done.returncode} {said}".strip())
    return done.stdout


def content(*files: Path) -> str:
    """A hash over names and contents of set-up's products; ABSENT when one is not there."""
    found = hashlib.sha256()
    try:
        for path in sorted(files):
            found.update(f"{path.name} {path.stat().st_size}\n".encode())
            # In pieces: a kernel has 9 MB, and all of them at once cost new memory.
            with path.open("rb") as stream:
                hashlib.file_digest(stream, lambda: found)
    except FileNotFoundError:
        return ABSENT
    return found.hexdigest()[:DIGITS]


def missing(path: Path, options: str) -> MissingError:
    """What set-up makes with some options is not there."""
    command = " ".join(["./cellbed setup", *options.split()])
    return MissingError(f"{path} does not exist; run {command}")


def require(path: Path, arch: str = "", options: str = "") -> Path:
    """The path, when set-up has made it; `options` are those that set-up needs for it.

    Raises:
        MissingError: set-up has not been run, or a recipe has changed since.
    """
    if not path.exists():
        raise missing(path, options or OPTIONS[arch])
    return path


def product(name: str, arch: str = "") -> Path:
    """Where set-up makes a product: for x86-64, or for the processor that `arch` names."""
    return places()[f"{arch}_{name}" if arch else name]


def image(arch: str = "") -> Path:
    """The lab image, a folder."""
    return require(product("image", arch), arch)


def kernel() -> Path:
    """The lab kernel, an executable."""
    return require(places()["kernel"] / "linux")


def programs(arch: str = "") -> Path:
    """Folder of the compiled BPF objects, tools and modules."""
    return require(product("programs", arch), arch)


def stock_kernel(arch: str = "") -> Path:
    """Folder of the vm lab's kernel, initramfs and TCP module."""
    folder = product("vm", arch)
    if (folder / "complete").exists():
        return folder
    raise missing(folder, OPTIONS[arch] or "--vm")


def disk(arch: str = "") -> Path:
    """The lab image as the vm lab's disk, a squashfs."""
    return require(product("disk", arch), arch, OPTIONS[arch] or "--vm")


def memory_directory() -> Path:
    """Where a lab's memory is kept.

    Raises:
        MissingError: there is no place from which programs can be run.
    """
    found = memory.place()
    if found.unfit:
        raise MissingError(f"{found.path}: {found.unfit}; set TMPDIR to another folder")
    return found.path
