# SPDX-License-Identifier: GPL-2.0-only
"""The report of a campaign: one HTML file, the same as Markdown, and its tables as CSV."""

from analysis.report.write import Written, write_report

__all__ = ["Written", "write_report"]
