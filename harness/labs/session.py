# SPDX-License-Identifier: GPL-2.0-only
"""A lab for as long as a `with` lasts, in a folder of its own that tells whose it is."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from harness import labs
from harness.host import owner
from harness.labs.base import Lab, LabSpec

LAB_PREFIX = "cellbed-lab."
# From its first moment a folder says who its owner is: nothing in it has to be read for that.
LAB_FOLDER = re.compile(re.escape(LAB_PREFIX) + r"(?P<owner>\d+-\d+)\.\w+")


@contextmanager
def lab_folder() -> Iterator[Path]:
    """A temporary folder of this process; `./cellbed clean` removes it when that was killed."""
    prefix = f"{LAB_PREFIX}{owner.this_process()}."
    with tempfile.TemporaryDirectory(prefix=prefix) as name:
        yield Path(name)


@contextmanager
def session(
    lab: str, spec: LabSpec, files: Mapping[str, str | bytes] | None = None
) -> Iterator[Lab]:
    """Boot the lab of a name (uml, vm, native); leaving ends it and removes its folder.

    Args:
        files: name and content of files that are in its run directory when it boots.

    Raises:
        MissingError, LabError: it cannot be booted.
    """
    with lab_folder() as folder:
        for name, content in (files or {}).items():
            data = content.encode() if isinstance(content, str) else content
            (folder / name).write_bytes(data)
        with labs.LABS[lab](spec, folder) as booted:
            yield booted
