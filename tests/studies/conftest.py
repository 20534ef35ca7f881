# SPDX-License-Identifier: GPL-2.0-only
"""The synthetic campaign of the analysis' tests."""

from tests.analysis.conftest import campaign

__all__ = ["campaign"]
