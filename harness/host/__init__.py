# SPDX-License-Identifier: GPL-2.0-only
"""This machine: where things are kept, whose process it is, whose file."""
