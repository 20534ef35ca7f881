# SPDX-License-Identifier: GPL-2.0-only
"""The tables of its README, from the kept results."""

from collections.abc import Callable, Mapping

from analysis.kept import Kept
from analysis.report.model import Sheet

TABLES: Mapping[str, Callable[[Kept], Sheet]] = {}
