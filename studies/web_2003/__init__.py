# SPDX-License-Identifier: GPL-2.0-only
"""Weigle, Jeffay, Smith, MASCOTS 2003: Reno, SACK, Adaptive RED and ECN by web response times."""
