# SPDX-License-Identifier: GPL-2.0-only
"""Reno, SACK, CUBIC and BBR on a path with handovers, as satellites on a low orbit have them."""
