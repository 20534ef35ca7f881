# SPDX-License-Identifier: GPL-2.0-only
"""The exceptions of the analysis; each message is one line for the user.

AnalysisError
|- TableError    a result table cannot be analysed (names file and column)
|- RecordError   a trial or campaign on disk is not what its format says
|- ReportError   a report cannot be written
`- MissingLibraryError   a library that is not part of every set-up
"""


class AnalysisError(Exception):
    """Base of every error that `analysis` raises for a user's mistake."""


class TableError(AnalysisError):
    """A result table lacks a column, is unbalanced, or holds no number."""


class RecordError(AnalysisError):
    """A record on disk is missing, damaged, or of another version."""


class ReportError(AnalysisError):
    """A report cannot be made or written."""


class MissingLibraryError(AnalysisError):
    """What is asked for needs a library that this environment does not have."""
