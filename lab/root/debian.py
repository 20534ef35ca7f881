# SPDX-License-Identifier: GPL-2.0-only
"""The packages of a release of Debian, and their files."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import index
import mirror
from index import Package

# A release is given with what has been mended since.
RELEASES = ("bookworm", "trixie")
ARCHITECTURES = ("amd64", "arm64")


def choose(architecture: str) -> None:
    """From now on all packages are those of another architecture."""
    index.PACKAGES = f"main/binary-{architecture}/Packages.xz"


def suites(name: str) -> list[str]:
    """The suites that make up one."""
    return [name, f"{name}-updates", f"{name}-security"] if name in RELEASES else [name]


def all_of(suite: str) -> list[Package]:
    """All packages, some in several versions."""
    with ThreadPoolExecutor() as pool:
        return [x for found in pool.map(index.packages, suites(suite)) for x in found]


def known(suite: str) -> dict[str, Package]:
    """The newest version of each package."""
    return index.newest(all_of(suite))


def fetch(package: Package, path: Path) -> Path:
    """Fetch a package's file, if it is not there, and compare its checksum."""
    if mirror.same(path, package.size, package.sha256):
        return path
    partial = path.with_name(path.name + ".partial")
    with partial.open("w+b") as stream:
        mirror.save(package.url, package.size, stream)
    if not mirror.same(partial, package.size, package.sha256):
        partial.unlink()
        raise index.UntrustedError(f"{package.url} is not the file that Debian's list names")
    partial.replace(path)
    return path
