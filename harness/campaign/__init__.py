# SPDX-License-Identifier: GPL-2.0-only
"""From plans to records: a folder that is locked, its trials, its events."""
