# SPDX-License-Identifier: GPL-2.0-only
"""The patches of this folder: each takes the fix of a historical bug out of Linux 6.12."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "patches"
END = "--- "  # of the head


@dataclass(frozen=True)
class Bug:
    """A bug.

    Attributes:
        subject: of the commit that fixed it.
        commit: the begin of this commit's id; empty: we did not find it.
        year: of this commit.
        fixes: title of the commit that brought the bug, if the fix named it.
        bug: what went wrong.
        tests: what ./cellbed selftests runs for it, below net.
    """

    patch: Path
    subject: str
    commit: str
    year: int
    fixes: str
    bug: str
    tests: Sequence[str]

    @property
    def name(self) -> str:
        """As a person writes it."""
        return self.patch.stem


def read(patch: Path) -> Bug:
    """The bug of a patch, by the lines `Key: value` above it."""
    head: dict[str, str] = {}
    for line in patch.read_text().splitlines():
        if line.startswith(END):
            break
        key, colon, value = line.partition(": ")
        if colon and not key.startswith("#"):
            head[key] = value
    return Bug(
        patch=patch, subject=head["Subject"], commit=head.get("Commit", ""), year=int(head["Year"]),
        fixes=head.get("Fixes", ""), bug=head["Bug"], tests=head.get("Tests", "").split(),
    )  # fmt: skip


def all_bugs() -> list[Bug]:
    """All, by year."""
    return sorted(map(read, FOLDER.glob("*.patch")), key=lambda one: (one.year, one.name))
