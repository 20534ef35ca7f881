# SPDX-License-Identifier: GPL-2.0-only
"""One exception tree, and the exit code that each branch gives.

CellbedError            1  something went wrong while running
├── UsageError          2  the user's input: file, key, what is allowed
├── MissingError        3  the machine lacks something; says how to get it
├── LabError            4  a lab did not boot, hung, panicked or was killed
└── InvalidTrialError   5  trials ran, and at least one failed its checks
"""

from __future__ import annotations


class CellbedError(Exception):
    """Base of all errors that a user may see; its text is one line."""

    exit_code = 1


class UsageError(CellbedError):
    """Input that cannot be used."""

    exit_code = 2


class MissingError(CellbedError):
    """A program, file or right that this machine does not have."""

    exit_code = 3


class LabError(CellbedError):
    """A lab that did not do its work.

    Args:
        message: one line.
        console: the end of the lab's console, for the person who asks why.
    """

    exit_code = 4

    def __init__(self, message: str, console: str = "") -> None:
        super().__init__(message)
        self.console = console


class InvalidTrialError(CellbedError):
    """Trials that ran but failed a fidelity check."""

    exit_code = 5
