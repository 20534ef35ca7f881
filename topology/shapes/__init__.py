# SPDX-License-Identifier: GPL-2.0-only
"""The kinds of topology; plan/shape.py has the files' interface."""
