# SPDX-License-Identifier: GPL-2.0-only
"""What stands beside each lab of this machine: its core, its boundary, its end.

A program of its own (__main__.py), so that a lab ends when its owner is killed. Standard library
only, and nothing of the project: it starts with every lab.
"""
