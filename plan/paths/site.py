# SPDX-License-Identifier: GPL-2.0-only
"""The inputs of a kind of path: files, and the path before time 0. Standard library only."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from plan.errors import UsageError
from plan.orbits import Propagator
from plan.path import MOST_DELAY_US, Row
from plan.schema import MOST_SHOWN, Called, Within

MOST_BYTES = 1 << 26
NO_NAME = '""'

FileName = Annotated[str, Called("the name of a file")]

# Keys that several kinds have.
Delay = Annotated[
    int | None,
    Within(0, MOST_DELAY_US),
    "The one-way delay of each direction. The default is `topology.delay_us`.",
]
Loss = Annotated[
    float, Within(0, 1), "The share of packets that each direction loses. 1 is not allowed."
]
DIGITS = re.compile(r"[0-9]{1,20}")  # Python refuses to read thousands of digits


def shown(text: str) -> str:
    """Return a text of a file as an error quotes it."""
    return (text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}...") or NO_NAME


@dataclass(frozen=True, kw_only=True)
class Site:
    """Attributes:
    folders: the folders in which a file's name is looked up; the first match counts.
    still: the path before time 0.
    propagator: from the two-line elements of a satellite to its positions. It needs a library, so
        the caller gives it.
    """

    folders: Sequence[Path]
    still: Row
    propagator: Callable[[str, str], Propagator] | None = None

    def still_with(self, delay_us: int | None, loss: float) -> Row:
        """Return the path before time 0 with the delay and the loss of a log (None: its own)."""
        still = self.still._replace(loss=loss)
        return still if delay_us is None else still._replace(delay_us=delay_us)

    def lines(self, name: str) -> list[str]:
        """Return the lines of a text file.

        Raises:
            UsageError: the file does not exist, or it is not a text.
        """
        found = next((one / name for one in self.folders if (one / name).is_file()), None)
        if found is None:
            raise UsageError(
                f"topology.path: {name or NO_NAME}: there is no such file in"
                f" {self.folders[0].absolute()}"
            )
        try:
            if found.stat().st_size > MOST_BYTES:
                raise UsageError(
                    f"topology.path: {name}: the file is larger than {MOST_BYTES} bytes"
                )
            return found.read_text(encoding="utf-8-sig").splitlines()
        except UnicodeDecodeError as error:
            raise UsageError(f"topology.path: {name}: the file is no text in UTF-8") from error
        except OSError as error:
            raise UsageError(f"topology.path: {name}: {error.strerror}") from error
