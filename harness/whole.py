# SPDX-License-Identifier: GPL-2.0-only
"""A record's folder has its name only when it is whole."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole_folder(parent: Path, name: str) -> Iterator[Path]:
    """A new folder to fill, under another name until the `with` ends without an error.

    One that was there under the name is replaced then.
    """
    partial = parent / f".{name}.partial"
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    yield partial
    shutil.rmtree(parent / name, ignore_errors=True)
    partial.rename(parent / name)
