# SPDX-License-Identifier: GPL-2.0-only
"""Partial packet discard (Romanow and Floyd 1995): no frame is refused."""

CAUSE = None
