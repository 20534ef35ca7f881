# SPDX-License-Identifier: GPL-2.0-only
"""Builds the wheel and the sdist (PEP 517), which hold this project as it stands in its folder.

What cellbed runs is a tree: recipes, programs and eBPF sources beside the Python files, with their
names, their order and their right to be executed. The wheel puts this tree into one folder, and a
.pth file makes Python import from there. The same files give the same bytes. An installation in
place (pip install -e) is setuptools' own.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import os
import stat
import subprocess
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from setuptools import build_meta  # type: ignore[import-untyped]
from setuptools.build_meta import (  # type: ignore[import-untyped]
    build_editable,
    get_requires_for_build_editable,
    prepare_metadata_for_build_editable,
)

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "prepare_metadata_for_build_editable",
]

PROJECT = Path(__file__).resolve().parents[2]
TREE = "cellbed_tree"
# Of no use where cellbed is installed.
NOT_INSTALLED = ("tests/", ".devcontainer/", ".dockerignore", ".github/", ".ci/", ".gitignore")
MADE = {"PKG-INFO", "build", "dist", "results", "mine"}  # beside the files of an sdist
OLDEST = (1980, 1, 1, 0, 0, 0)  # that a ZIP can name
WHEEL = "Wheel-Version: 1.0\nGenerator: cellbed\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def files() -> list[str]:
    """The project's files: git's where this is its clone, else all of the sdist."""
    if (PROJECT / ".git").exists():
        argv = ["git", "ls-files", "-z"]
        listed = subprocess.run(argv, cwd=PROJECT, stdout=subprocess.PIPE, check=True).stdout
        found = listed.decode().split("\0")
    else:
        found = [str(path.relative_to(PROJECT)) for path in PROJECT.rglob("*")]
    return sorted(name for name in found if name and own(name))


def own(name: str) -> bool:
    """Is it a file of the project's, and nothing that somebody made beside it?"""
    parts = name.split("/")
    made = parts[0] in MADE or parts[0].endswith(".egg-info") or "__pycache__" in parts
    return not made and (PROJECT / name).is_file()


def metadata() -> tuple[str, dict[str, str]]:
    """The name of the folder with what pip asks for, and its files."""
    with tempfile.TemporaryDirectory() as folder:
        here = Path.cwd()
        os.chdir(PROJECT)
        try:
            name = build_meta.prepare_metadata_for_build_wheel(folder)
        finally:
            os.chdir(here)
        wanted = ("METADATA", "entry_points.txt")
        return name, {one: (Path(folder) / name / one).read_text("utf-8") for one in wanted}


def mode_of(name: str) -> int:
    """Whether a file is a program; all else about its rights is the installer's."""
    return 0o755 if (PROJECT / name).stat().st_mode & stat.S_IXUSR else 0o644


def members(info: str, told: dict[str, str]) -> Iterator[tuple[str, bytes, int]]:
    """The files of a wheel: name, content, rights."""
    yield "cellbed.pth", f"{TREE}\n".encode(), 0o644
    for name in files():
        if not name.startswith(NOT_INSTALLED):
            yield f"{TREE}/{name}", (PROJECT / name).read_bytes(), mode_of(name)
    for name, text in {**told, "WHEEL": WHEEL}.items():
        yield f"{info}/{name}", text.encode(), 0o644
    yield f"{info}/licenses/LICENSE", (PROJECT / "LICENSE").read_bytes(), 0o644


def build_wheel(
    wheel_directory: str, config_settings: Any = None, metadata_directory: str | None = None
) -> str:
    """PEP 517's: write the wheel, and return its name."""
    info, told = metadata()
    name = f"{info.removesuffix('.dist-info')}-py3-none-any.whl"
    record = io.StringIO()
    with zipfile.ZipFile(Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, content, mode in members(info, told):
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=")
            record.write(f'"{path}",sha256={digest.decode()},{len(content)}\n')
            add(wheel, path, content, mode)
        record.write(f"{info}/RECORD,,\n")
        add(wheel, f"{info}/RECORD", record.getvalue().encode(), 0o644)
    return name


def add(wheel: zipfile.ZipFile, path: str, content: bytes, mode: int) -> None:
    """A file of a wheel."""
    head = zipfile.ZipInfo(path, OLDEST)
    head.compress_type = zipfile.ZIP_DEFLATED
    head.external_attr = (stat.S_IFREG | mode) << 16
    wheel.writestr(head, content)


def build_sdist(sdist_directory: str, config_settings: Any = None) -> str:
    """PEP 517's: write the archive of the source, and return its name."""
    info, told = metadata()
    base = info.removesuffix(".dist-info")
    name = f"{base}.tar.gz"
    contents = {path: ((PROJECT / path).read_bytes(), mode_of(path)) for path in files()}
    contents["PKG-INFO"] = (told["METADATA"].encode(), 0o644)
    with (
        (Path(sdist_directory) / name).open("wb") as stream,
        gzip.GzipFile("", "wb", fileobj=stream, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for path, (content, mode) in sorted(contents.items()):
            head = tarfile.TarInfo(f"{base}/{path}")
            head.size, head.mode = len(content), mode
            archive.addfile(head, io.BytesIO(content))
    return name
