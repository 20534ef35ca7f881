# SPDX-License-Identifier: GPL-2.0-only
"""The TCP flavors: their files, and what each does with exactly placed losses."""
