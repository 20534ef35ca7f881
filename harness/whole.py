# SPDX-License-Identifier: GPL-2.0-only
"""Files and folders that have their name only when they are whole, whatever ends the writer."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole_folder(parent: Path, name: str) -> Iterator[Path]:
    """A new folder to fill, under another name until the `with` ends without an error.

    One that is there under the name by then stays as it is, and the new one goes.
    """
    partial = parent / f".{name}.partial"
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    yield partial
    try:
        partial.rename(parent / name)
    except OSError:
        if not (parent / name).exists():
            raise
        shutil.rmtree(partial)


def write_whole(path: Path, text: str) -> None:
    """Write a file, or put another content into its place at once; several may do so together."""
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        partial.write_text(text, encoding="utf-8")
        partial.replace(path)
    except OSError:
        partial.unlink(missing_ok=True)
        raise
