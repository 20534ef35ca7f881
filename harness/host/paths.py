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
            found.update(path.read_bytes())
    except FileNotFoundError:
        return ABSENT
    return found.hexdigest()[:DIGITS]


def require(path: Path) -> Path:
    """The path, when set-up has made it.

    Raises:
        MissingError: set-up has not been run, or a recipe has changed since.
    """
    if not path.exists():
        raise MissingError(f"{path} does not exist; run ./cellbed setup")
    return path


def image() -> Path:
    """The lab image, a folder."""
    return require(places()["image"])


def kernel() -> Path:
    """The lab kernel, an executable."""
    return require(places()["kernel"] / "linux")


def programs() -> Path:
    """Folder of the compiled BPF objects, tools and modules."""
    return require(places()["programs"])


def stock_kernel() -> Path:
    """Folder of the vm lab's kernel, initramfs and TCP module."""
    folder = places()["vm"]
    if not (folder / "complete").exists():
        raise MissingError(f"{folder} does not exist; run ./cellbed setup --vm")
    return folder


def disk() -> Path:
    """The lab image as the vm lab's disk, a squashfs."""
    path = places()["disk"]
    if not path.exists():
        raise MissingError(f"{path} does not exist; run ./cellbed setup --vm")
    return path


def memory_directory() -> Path:
    """Where a lab's memory is kept.

    Raises:
        MissingError: there is no place from which programs can be run.
    """
    found = memory.place()
    if found.unfit:
        raise MissingError(f"{found.path}: {found.unfit}; set TMPDIR to another folder")
    return found.path
