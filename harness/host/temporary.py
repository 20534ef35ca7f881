# SPDX-License-Identifier: GPL-2.0-only
"""Temporary folders that say whose they are, so that those of killed processes are found."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.host import owner

# From its first moment a folder says who its owner is: nothing in it has to be read for that.
NAME = re.compile(r"cellbed-[a-z]+\.(?P<owner>\d+-\d+)\.\w+")


@contextmanager
def folder(what: str) -> Iterator[Path]:
    """A folder of this process for something; `./cellbed clean` removes it when that was killed."""
    prefix = f"cellbed-{what}.{owner.this_process()}."
    with tempfile.TemporaryDirectory(prefix=prefix) as name:
        yield Path(name)
