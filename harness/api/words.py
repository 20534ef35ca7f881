# SPDX-License-Identifier: GPL-2.0-only
"""Errors that name options of the command line, in the words of the library."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from plan.errors import CellbedError

OPTION = re.compile(r"(\./cellbed [^;:,]*)|(?<![\w-])--([a-z]+(?:-[a-z]+)*)")
"""An option, or a whole command, which keeps its options."""
FIRST = re.compile(r"^--([a-z]+(?:-[a-z]+)*)(?: ([^:]*))?: ")
"""An option at the beginning, perhaps with its value, of which the message speaks."""
ARGUMENTS = {"kernel": "kernels"}
"""The arguments whose names are not those of their options with _ in place of -."""


@contextmanager
def as_arguments() -> Iterator[None]:
    """Let an error name the argument `out` where it names the option --out."""
    try:
        yield
    except CellbedError as error:
        error.args = tuple(in_words(str(one)) for one in error.args)
        raise


def in_words(message: str) -> str:
    """A message that names arguments in place of options."""
    message = FIRST.sub(lambda found: subject(argument(found[1]), found[2]), message)
    return OPTION.sub(lambda found: found[1] or f"the argument {argument(found[2])}", message)


def subject(name: str, value: str | None) -> str:
    """An argument as the library's own messages begin with it."""
    return f"{name}: " if value is None else f"{name} = {value}: "


def argument(option: str) -> str:
    """The argument that stands for an option; `option` has no hyphens before it."""
    return ARGUMENTS.get(option, option.replace("-", "_"))
