# SPDX-License-Identifier: GPL-2.0-only
"""Kernels of the uml lab beside set-up's: Debian's releases, and trees of the user's own."""
