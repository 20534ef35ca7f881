# SPDX-License-Identifier: GPL-2.0-only
"""Kernels of the uml lab beside set-up's: Debian's releases, and trees of the user's own.

lab/kernel makes them all, set-up's too; this room finds their sources and keeps what comes of them.
"""
