# SPDX-License-Identifier: GPL-2.0-only
"""The command line: one file a command, each with what it prints."""
