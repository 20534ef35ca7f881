# SPDX-License-Identifier: GPL-2.0-only
"""The tree of exceptions, and the exit code of each branch.

CellbedError            1  something failed while cellbed ran
├── UsageError          2  the user's input is wrong: the text has file, key and allowed values
├── MissingError        3  the machine lacks something: the text says how to get it
├── LabError            4  a lab did not boot, hung, panicked or was killed
└── InvalidTrialError   5  at least one trial failed its checks
"""

from __future__ import annotations

from pathlib import Path


class CellbedError(Exception):
    """The base of all errors that a user may see; the text is one line."""

    exit_code = 1


class UsageError(CellbedError):
    """cellbed cannot use an input."""

    exit_code = 2


class NoFileError(UsageError):
    """A file that an input names is not there.

    Args:
        said: what happened, and where.
        file: the file.
        then: what else the person has to do, as the end of the sentence.
    """

    def __init__(self, said: str, file: Path, then: str = "") -> None:
        super().__init__(f"{said}{then}")
        self.said, self.file, self.then = said, file, then


class MissingError(CellbedError):
    """This machine lacks a program, file or right."""

    exit_code = 3


class LabError(CellbedError):
    """A lab failed.

    Args:
        message: one line.
        console: the end of the lab's console, which shows the cause.
    """

    exit_code = 4

    def __init__(self, message: str, console: str = "") -> None:
        super().__init__(message)
        self.console = console


class InvalidTrialError(CellbedError):
    """Trials ran but failed a fidelity check."""

    exit_code = 5
