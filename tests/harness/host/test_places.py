# SPDX-License-Identifier: GPL-2.0-only
"""The places of set-up's products: their keys, and that ./cellbed tells them to Python."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from harness.host import paths
from tests.small import PROJECT

PRINTED = "import os; from harness.host import paths; print(paths.places(), dict(os.environ))"


def files(*names: str) -> Iterator[Path]:
    """All files of a recipe."""
    for name in names:
        path = Path(name)
        yield from (
            [path]
            if (PROJECT / path).is_file()
            else (
                found.relative_to(PROJECT)
                for found in (PROJECT / path).rglob("*")
                if found.is_file()
            )
        )


def test_a_key_is_a_hash_of_the_names_and_contents_of_a_recipe() -> None:
    recipe = files("lab/image", "lab/root/build", "lab/root/enter", "lab/root/packages",
                   "lab/root/index.py", "lab/root/resolve.py", "lab/root/unpack.py")  # fmt: skip
    sums = hashlib.sha256()
    for path in sorted(map(str, recipe)):
        if "__pycache__" not in path:
            digest = hashlib.sha256((PROJECT / path).read_bytes()).hexdigest()
            sums.update(f"{digest}  {path}\n".encode())
    assert paths.places()["image"].name == f"image-{sums.hexdigest()[:16]}"


def test_what_the_launcher_was_told_is_not_asked_again_and_not_passed_on() -> None:
    environment = {**os.environ, "CELLBED_PLACES": "image=/of-the-launcher"}
    argv = [sys.executable, "-P", "-c", PRINTED]
    said = subprocess.run(
        argv, cwd=PROJECT, env={**environment, "PYTHONPATH": str(PROJECT)},
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    assert "{'image': PosixPath('/of-the-launcher')}" in said
    assert "CELLBED_PLACES" not in said
