# SPDX-License-Identifier: GPL-2.0-only
"""A lab for as long as a `with` lasts, in a folder of its own that tells whose it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from harness import labs
from harness.host import temporary
from harness.labs.base import Lab, LabSpec
from harness.labs.linked import LinkedLabs


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
    with temporary.folder("lab") as folder:
        for name, content in (files or {}).items():
            data = content.encode() if isinstance(content, str) else content
            (folder / name).write_bytes(data)
        kind = labs.LABS[lab] if spec.receiver is None else LinkedLabs
        with kind(spec, folder) as booted:
            yield booted
