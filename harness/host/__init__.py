# SPDX-License-Identifier: GPL-2.0-only
"""This machine: where things are kept, what is missing, what was left behind."""
